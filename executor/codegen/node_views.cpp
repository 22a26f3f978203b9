#include "executor/codegen/node_views.h"

#include "api/base/check.h"

namespace slipway {

bool is_view(const Node& node) {
    switch (node.op) {
        case OpCode::broadcast_in_dim:
        case OpCode::reshape:
        case OpCode::transpose:
        case OpCode::slice:
        case OpCode::reverse:
        case OpCode::stop_gradient:
            return true;
        default:
            return false;
    }
}

std::optional<View> view_of(const Node& node, const View& operand) {
    switch (node.op) {
        case OpCode::broadcast_in_dim:
            return broadcast_view(operand, node.shape.dims,
                                  std::get<BroadcastAttributes>(node.attributes).dimensions);
        case OpCode::transpose:
            return transposed_view(operand,
                                   std::get<TransposeAttributes>(node.attributes).permutation);
        case OpCode::slice:
            return sliced_view(operand, std::get<SliceAttributes>(node.attributes));
        case OpCode::reverse:
            return reversed_view(operand, std::get<ReverseAttributes>(node.attributes).dimensions);
        case OpCode::stop_gradient:
            return operand;
        default:
            check(node.op == OpCode::reshape, "is_view knows all views");
            return reshaped_view(operand, node.shape.dims);
    }
}

const Tensor& source_of(const Tensor& tensor) {
    const Tensor* source = &tensor;
    while (is_view(source->node()))
        source = &source->node().operands[0];
    return *source;
}

std::optional<View> view_of_source(const Tensor& tensor) {
    if (!is_view(tensor.node())) return dense_view(tensor.dims());
    const std::optional<View> operand = view_of_source(tensor.node().operands[0]);
    return operand ? view_of(tensor.node(), *operand) : std::nullopt;
}

bool is_element_itself(const Tensor& operand) {
    const std::optional<View> view = view_of_source(operand);
    return view && is_dense(*view) &&
           operand.shape().element_count() == source_of(operand).shape().element_count();
}

std::int64_t row_elements_of(const Tensor& operand) {
    const std::optional<View> view = view_of_source(operand);
    if (!view || view->offset != 0) return 0;
    std::int64_t row = 1;
    std::int64_t stride = 1;
    bool in_row = true;
    for (std::size_t i = view->dims.size(); i-- > 0;) {
        if (view->dims[i] == 1) continue;
        in_row = in_row && view->strides[i] == 0;
        if (in_row) {
            row *= view->dims[i];
        } else {
            if (view->strides[i] != stride) return 0;
            stride *= view->dims[i];
        }
    }
    return stride == source_of(operand).shape().element_count() ? row : 0;
}

bool is_by_channel_of_one(const Tensor& operand) {
    return operand.dims().size() > 2 && operand.dims()[0] == 1 &&
           source_of(operand).dims().size() == 1;
}

}    // namespace slipway
