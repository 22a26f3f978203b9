#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/rules.h"

/// Ops over all cores.
namespace slipway {

Tensor all_reduce(const Tensor& x, Reduction reduction) {
    return make_node({.op = OpCode::all_reduce,
                      .attributes = AllReduceAttributes{reduction},
                      .operands = {x},
                      .result = {}});
}

Tensor sum_of_shares(const Tensor& x) {
    return x.node().placement == Placement::per_core ? all_reduce(x) : x;
}

namespace {

EvaluateRule combination(Reduction reduction) {
    switch (reduction) {
        case Reduction::add:
            return rules::evaluate_add;
        case Reduction::maximum:
            return rules::evaluate_maximum;
        case Reduction::minimum:
            return rules::evaluate_minimum;
    }
    return nullptr;
}

/// By the fixed binary tree over core numbers, ((0+1)+(2+3))+((4+5)+(6+7)) for eight, rounding at
/// each step: the very order the runtime keeps.
Array combined_over_cores(const Shape& shape, std::span<const Array> values, Reduction reduction) {
    const EvaluateRule combine = combination(reduction);
    const Node sum{OpCode::add, NoAttributes{}, {}, shape, Placement::replicated, {}};
    std::vector<Array> partial(values.begin(), values.end());
    for (std::size_t distance = 1; distance < partial.size(); distance *= 2) {
        for (std::size_t i = 0; i + distance < partial.size(); i += 2 * distance)
            partial[i] = combine(sum, std::vector{partial[i], partial[i + distance]});
    }
    return partial[0];
}

}    // namespace

namespace rules {

Shape infer_all_reduce(const NodeRequest& request) {
    const Tensor& x = request.operands[0];
    require(x.node().placement == Placement::per_core, request, 1,
            "the operand is the same on every core; only a value per core can be summed over them");
    require(is_number(x.dtype()), request, 2, "the operand must be a number");
    return x.shape();
}

/// The sum over cores moves as much as this core's term does. What flows back per core are shares
/// of the cores' own losses: all of them move with the term.
std::vector<Tensor> gradient_all_reduce(const Tensor& y, const Tensor& dy) {
    if (std::get<AllReduceAttributes>(y.node().attributes).reduction != Reduction::add)
        refuse_gradient(y, "only sums over cores have one");
    return {sum_of_shares(dy)};
}

Array evaluate_all_reduce(const Node& node, std::span<const Array> values) {
    return combined_over_cores(node.shape, values,
                               std::get<AllReduceAttributes>(node.attributes).reduction);
}

}    // namespace rules

}    // namespace slipway
