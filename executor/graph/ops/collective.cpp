#include "api/base/error.h"
#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/rules.h"

/// Ops over all cores: all_reduce, reduce_scatter, all_gather, replica_id.
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

Tensor reduce_scatter(const Tensor& x, std::int64_t dimension, std::int64_t cores,
                      Reduction reduction) {
    return make_node({.op = OpCode::reduce_scatter,
                      .attributes = CoreDimensionAttributes{dimension, cores, reduction},
                      .operands = {x},
                      .result = {}});
}

Tensor all_gather(const Tensor& x, std::int64_t dimension, std::int64_t cores) {
    return make_node({.op = OpCode::all_gather,
                      .attributes = CoreDimensionAttributes{dimension, cores, Reduction::add},
                      .operands = {x},
                      .result = {}});
}

Tensor replica_id() {
    return make_node(
        {.op = OpCode::replica_id, .attributes = NoAttributes{}, .operands = {}, .result = {}});
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

const CoreDimensionAttributes& attributes_of(const Node& node) {
    return std::get<CoreDimensionAttributes>(node.attributes);
}

void require_cores(const Node& node, int cores) {
    const std::int64_t wanted = attributes_of(node).cores;
    if (wanted == cores) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is made for {} cores, there are {}", name_of(node), wanted, cores));
}

void require_dimension_per_core(const NodeRequest& request) {
    const auto& a = std::get<CoreDimensionAttributes>(request.attributes);
    const Tensor& x = request.operands[0];
    require(x.node().placement == Placement::per_core, request, 1,
            "the operand is the same on every core");
    require(a.dimension >= 0 && a.dimension < x.shape().rank(), request, 2,
            "dimension must be in 0..{}, got {}", x.shape().rank() - 1, a.dimension);
    require(a.cores >= 1, request, 3, "cores must be at least 1, got {}", a.cores);
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

Shape infer_reduce_scatter(const NodeRequest& request) {
    const auto& a = std::get<CoreDimensionAttributes>(request.attributes);
    require_dimension_per_core(request);
    Shape result = request.operands[0].shape();
    std::int64_t& extent = result.dims[std::size_t(a.dimension)];
    require(extent % a.cores == 0, request, 4, "{} does not divide by {} cores", extent, a.cores);
    require(is_number(result.dtype), request, 5, "the operand must be a number");
    extent /= a.cores;
    return result;
}

Shape infer_all_gather(const NodeRequest& request) {
    const auto& a = std::get<CoreDimensionAttributes>(request.attributes);
    require_dimension_per_core(request);
    Shape result = request.operands[0].shape();
    result.dims[std::size_t(a.dimension)] *= a.cores;
    return result;
}

Shape infer_replica_id(const NodeRequest&) {
    return {DType::u32, {}};
}

std::vector<Array> evaluate_all_reduce(const Node& node, std::span<const Array> values, int) {
    return {combined_over_cores(node.shape, values,
                                std::get<AllReduceAttributes>(node.attributes).reduction)};
}

std::vector<Array> evaluate_reduce_scatter(const Node& node, std::span<const Array> values,
                                           int cores) {
    require_cores(node, cores);
    const auto dimension = std::size_t(attributes_of(node).dimension);
    const Shape& whole = values[0].shape();
    const Array sum = combined_over_cores(whole, values, attributes_of(node).reduction);
    const Dims strides = strides_of(whole.dims);
    std::vector<Array> parts;
    for (std::int64_t core = 0; core < cores; ++core) {
        const std::int64_t start = core * node.shape.dims[dimension] * strides[dimension];
        parts.push_back(gathered(node.shape, sum, [&](const Dims& index) {
            return std::size_t(start) + offset_of(index, strides);
        }));
    }
    return parts;
}

std::vector<Array> evaluate_all_gather(const Node& node, std::span<const Array> values, int cores) {
    require_cores(node, cores);
    const NodeRequest whole{.op = OpCode::concatenate,
                            .attributes = ConcatenateAttributes{attributes_of(node).dimension},
                            .operands = std::vector(values.size(), node.operands[0]),
                            .result = {}};
    return {rules::evaluate_concatenate(make_node(whole).node(), values)};
}

std::vector<Array> evaluate_replica_id(const Node& node, std::span<const Array>, int cores) {
    std::vector<Array> numbers;
    for (int core = 0; core < cores; ++core) {
        numbers.emplace_back(node.shape);
        numbers.back().as<std::uint32_t>()[0] = std::uint32_t(core);
    }
    return numbers;
}

}    // namespace rules

}    // namespace slipway
