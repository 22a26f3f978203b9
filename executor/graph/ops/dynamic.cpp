#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Parts whose place is known only when the graph runs: dynamic_slice, dynamic_update_slice.
namespace slipway {

Tensor dynamic_slice(const Tensor& x, std::vector<Tensor> starts, Dims sizes) {
    std::vector<Tensor> operands{x};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return make_node({.op = OpCode::dynamic_slice,
                      .attributes = DynamicSliceAttributes{std::move(sizes)},
                      .operands = std::move(operands),
                      .result = {}});
}

Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, std::vector<Tensor> starts) {
    std::vector<Tensor> operands{x, update};
    operands.insert(operands.end(), starts.begin(), starts.end());
    return make_node({.op = OpCode::dynamic_update_slice,
                      .attributes = NoAttributes{},
                      .operands = std::move(operands),
                      .result = {}});
}

namespace {

void require_starts(const NodeRequest& request, std::size_t first, int count_constraint,
                    int kind_constraint) {
    const std::size_t rank = request.operands[0].dims().size();
    require(request.operands.size() - first == rank, request, count_constraint,
            "there must be one start for each of the operand's {} dimensions", rank);
    for (std::size_t i = first; i < request.operands.size(); ++i) {
        const Shape& start = request.operands[i].shape();
        require(start.dims.empty() && is_integer(start.dtype), request, kind_constraint,
                "starts must be scalars of whole numbers");
    }
}

/// The starts, moved so that the part lies inside.
Dims clamped_starts(std::span<const Array> starts, const Dims& extents, const Dims& sizes) {
    Dims result(starts.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t start = with_integer_type(
            starts[i].shape().dtype, [&]<class T>() { return std::int64_t(starts[i].as<T>()[0]); });
        result[i] = std::clamp<std::int64_t>(start, 0, extents[i] - sizes[i]);
    }
    return result;
}

Dims added(const Dims& x, const Dims& y) {
    Dims sum = x;
    for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] += y[i];
    return sum;
}

std::vector<Tensor> starts_of(const Node& node, std::size_t first) {
    return {node.operands.begin() + std::ptrdiff_t(first), node.operands.end()};
}

}    // namespace

namespace rules {

Shape infer_dynamic_slice(const NodeRequest& request) {
    const Dims& sizes = std::get<DynamicSliceAttributes>(request.attributes).sizes;
    const Shape& x = request.operands[0].shape();
    require_starts(request, 1, 1, 2);
    require(sizes.size() == x.dims.size(), request, 3, "sizes {} must have one entry per dimension",
            to_string(sizes));
    for (std::size_t i = 0; i < sizes.size(); ++i)
        require(0 <= sizes[i] && sizes[i] <= x.dims[i], request, 4,
                "dimension {}: 0 <= size <= {} does not hold for {}", i, x.dims[i], sizes[i]);
    return {x.dtype, sizes};
}

Shape infer_dynamic_update_slice(const NodeRequest& request) {
    const Shape& x = request.operands[0].shape();
    const Shape& update = request.operands[1].shape();
    require_starts(request, 2, 1, 2);
    require(update.dtype == x.dtype && update.rank() == x.rank(), request, 3,
            "the update must have the operand's dtype and rank");
    for (std::size_t i = 0; i < x.dims.size(); ++i)
        require(update.dims[i] <= x.dims[i], request, 4,
                "dimension {}: an update of {} does not fit into {}", i, update.dims[i], x.dims[i]);
    return x;
}

std::vector<Tensor> gradient_dynamic_slice(const Tensor& y, const Tensor& dy) {
    const Tensor& x = y.node().operands[0];
    const Tensor zeros = broadcast(constant(0, x.dtype()), x.dims());
    std::vector<Tensor> flows(y.node().operands.size());
    flows[0] = dynamic_update_slice(zeros, dy, starts_of(y.node(), 1));
    return flows;
}

std::vector<Tensor> gradient_dynamic_update_slice(const Tensor& y, const Tensor& dy) {
    const Tensor& update = y.node().operands[1];
    const std::vector<Tensor> starts = starts_of(y.node(), 2);
    const Tensor zeros = broadcast(constant(0, update.dtype()), update.dims());
    std::vector<Tensor> flows(y.node().operands.size());
    flows[0] = dynamic_update_slice(dy, zeros, starts);
    flows[1] = dynamic_slice(dy, starts, update.dims());
    return flows;
}

Array evaluate_dynamic_slice(const Node& node, std::span<const Array> operands) {
    const Dims& extents = operands[0].shape().dims;
    const Dims start = clamped_starts(operands.subspan(1), extents, node.shape.dims);
    const Dims strides = strides_of(extents);
    return gathered(node.shape, operands[0],
                    [&](const Dims& index) { return offset_of(added(index, start), strides); });
}

Array evaluate_dynamic_update_slice(const Node& node, std::span<const Array> operands) {
    const Array& update = operands[1];
    const Dims start = clamped_starts(operands.subspan(2), node.shape.dims, update.shape().dims);
    const Dims strides = strides_of(node.shape.dims);
    Array result = operands[0].clone();
    with_any_type(node.shape.dtype, [&]<class T>() {
        const auto from = update.as<T>();
        auto to = result.as<T>();
        std::size_t n = 0;
        for_each_index(update.shape().dims, [&](const Dims& index) {
            to[offset_of(added(index, start), strides)] = from[n++];
        });
        return 0;
    });
    return result;
}

}    // namespace rules

}    // namespace slipway
