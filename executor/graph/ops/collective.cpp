#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/rules.h"
#include "executor/tensor/bfloat16.h"

/// Ops over all cores.
namespace slipway {

Tensor all_reduce(const Tensor& x, Reduction reduction, std::optional<DType> exchange) {
    return make_node({.op = OpCode::all_reduce,
                      .attributes = AllReduceAttributes{reduction, exchange},
                      .operands = {x},
                      .result = {}});
}

Tensor sum_of_shares(const Tensor& x, std::optional<DType> exchange) {
    return x.node().placement == Placement::per_core ? all_reduce(x, Reduction::add, exchange) : x;
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

Array rounded_to_bf16(const Array& values) {
    Array rounded = values.clone();
    for (float& value : rounded.as<float>())
        value = BFloat16(value);
    return rounded;
}

/// As the cores of hosts, of which each sends its sum, and of which one sends the sum of all.
Array exchanged_over_cores(const Shape& shape, std::span<const Array> values) {
    std::vector<Array> sums;
    for (std::size_t first = 0; first < values.size(); first += exchange_cores) {
        const std::size_t count = std::min(values.size() - first, std::size_t{exchange_cores});
        sums.push_back(rounded_to_bf16(
            combined_over_cores(shape, values.subspan(first, count), Reduction::add)));
    }
    return rounded_to_bf16(combined_over_cores(shape, sums, Reduction::add));
}

}    // namespace

namespace rules {

Shape infer_all_reduce(const NodeRequest& request) {
    const Tensor& x = request.operands[0];
    require(x.node().placement == Placement::per_core, request, 1,
            "the operand is the same on every core; only a value per core can be summed over them");
    require(is_number(x.dtype()), request, 2, "the operand must be a number");
    const auto& attributes = std::get<AllReduceAttributes>(request.attributes);
    require(
        !attributes.exchange || (attributes.exchange == DType::bf16 &&
                                 attributes.reduction == Reduction::add && x.dtype() == DType::f32),
        request, 3, "only sums of f32 are exchanged as another type, and only as bf16");
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
    const auto& attributes = std::get<AllReduceAttributes>(node.attributes);
    if (attributes.exchange && values.size() > exchange_cores)
        return exchanged_over_cores(node.shape, values);
    return combined_over_cores(node.shape, values, attributes.reduction);
}

}    // namespace rules

}    // namespace slipway
