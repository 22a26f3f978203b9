#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/rules.h"

/// Ops about the graph itself: get_result, optimization_barrier.
namespace slipway {

Tensor get_result(const Tensor& producer, std::int64_t index) {
    return make_node({.op = OpCode::get_result,
                      .attributes = GetResultAttributes{index},
                      .operands = {producer},
                      .result = {}});
}

Tensor optimization_barrier(const Tensor& x) {
    return make_node({.op = OpCode::optimization_barrier,
                      .attributes = NoAttributes{},
                      .operands = {x},
                      .result = {}});
}

namespace rules {

Shape infer_get_result(const NodeRequest& request) {
    const std::int64_t index = std::get<GetResultAttributes>(request.attributes).index;
    const std::vector<Shape>& more = request.operands[0].node().more_shapes;
    require(index >= 1 && index <= std::int64_t(more.size()), request, 1,
            "index must be in 1..{}, got {}", more.size(), index);
    return more[std::size_t(index - 1)];
}

Array evaluate_get_result(const Node& node, std::span<const Array> operands) {
    const Node& producer = node.operands[0].node();
    return row_of(producer.op)
        .evaluate_result(producer, operands, std::get<GetResultAttributes>(node.attributes).index);
}

std::vector<Tensor> gradient_optimization_barrier(const Tensor&, const Tensor& dy) {
    return {optimization_barrier(dy)};
}

}    // namespace rules

}    // namespace slipway
