#include <algorithm>
#include <unordered_map>

#include "executor/codegen/kernels/elementwise.h"
#include "executor/codegen/lowering.h"
#include "executor/graph/op_table.h"

/// Elementwise ops: a node and the operands inlined into it become one step.
namespace slipway {

namespace {

RowKey key_of(const Node& node) {
    const std::size_t typed = node.op == OpCode::select ? 1 : 0;
    RowKey key{.op = node.op, .from = node.operands[typed].dtype(), .to = node.shape.dtype};
    if (const auto* compare = std::get_if<CompareAttributes>(&node.attributes))
        key.direction = compare->direction;
    return key;
}

bool same(const View& a, const View& b) {
    return a.strides == b.strides && a.offset == b.offset;
}

class GroupBuilder {
public:
    GroupBuilder(const Lowering& lowering, const Tensor& last) : lowering_(lowering) {
        group_.dims = last.dims();
        add_op(last);
    }

    ElementGroup group() && { return std::move(group_); }
    const std::vector<BufferId>& reads() const { return reads_; }
    const std::string& name() const { return name_; }

private:
    /// Depth is bounded: the analysis keeps groups small.
    std::size_t add_op(const Tensor& tensor) {
        ElementOp op{.row = find_element_row(key_of(tensor.node())),
                     .operands = {},
                     .result = tensor.dtype()};
        for (const Tensor& operand : tensor.node().operands)
            op.operands.push_back(operand_of(operand));
        group_.ops.push_back(std::move(op));
        name_ += (name_.empty() ? "" : "+") + std::string(name_of(tensor.node().op));
        return group_.ops.size() - 1;
    }

    ElementOp::Operand operand_of(const Tensor& tensor) {
        if (!lowering_.facts(tensor).inlined) return {true, add_input(lowering_.value_of(tensor))};
        const auto known = ops_.find(tensor.get());
        if (known != ops_.end()) return {false, known->second};
        const std::size_t index = add_op(tensor);
        ops_.emplace(tensor.get(), index);
        return {false, index};
    }

    std::size_t add_input(const PlacedValue& value) {
        for (std::size_t i = 0; i < reads_.size(); ++i)
            if (reads_[i] == value.buffer && same(group_.inputs[i], value.view)) return i;
        reads_.push_back(value.buffer);
        group_.inputs.push_back(value.view);
        group_.input_types.push_back(value.dtype);
        return reads_.size() - 1;
    }

    const Lowering& lowering_;
    ElementGroup group_;
    std::vector<BufferId> reads_;    ///< by input
    std::unordered_map<const Node*, std::size_t> ops_;
    std::string name_;
};

}    // namespace

void lower_element_group(Lowering& lowering, const Tensor& tensor) {
    GroupBuilder builder(lowering, tensor);
    const std::vector<BufferId> reads = builder.reads();
    const std::string name = builder.name();
    ElementKernel kernel = make_element_kernel(std::move(builder).group());
    Step step{.name = step_name(name, tensor.shape()),
              .reads = reads,
              .writes = {lowering.make_result(tensor)},
              .in_place = {},
              .elements = kernel.elements,
              .kernel = std::move(kernel.kernel)};
    const auto is_aligned = [&](std::size_t input) {
        return std::ranges::count(kernel.in_place, input) > 0;
    };
    for (std::size_t i = 0; i < reads.size(); ++i) {
        bool everywhere = true;
        for (std::size_t k = 0; k < reads.size(); ++k)
            everywhere = everywhere && (reads[k] != reads[i] || is_aligned(k));
        if (everywhere) step.in_place.emplace_back(i, 0);
    }
    lowering.emit(lowering.facts(tensor).stage, std::move(step));
}

}    // namespace slipway
