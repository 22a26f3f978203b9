// max(relu(x + b)) over a window is relu(max(x) + b) when b is the same for the whole window:
// both functions grow with x. So the pool goes first, and bias and relu run on the pooled
// values. Its gradient is moved only where the mask is already below the pool (mask_pooled):
// then what it scatters is what it scattered before. passes.h says which bits may differ and
// why. Who else reads relu(x + b) keeps it; it is computed for them as before.
#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/passes/narrow.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

using Window = std::vector<WindowDimension>;

template <class Wanted>
const Wanted& attributes_of(const Tensor& x) {
    return std::get<Wanted>(x.node().attributes);
}

/// relu(x + bias), the bias the same for all elements of a window.
struct Activation {
    Tensor x, bias;
};

/// Whether a broadcast repeats its operand along every dimension that the window moves over.
bool is_fixed_in(const Tensor& broadcast, const Window& window) {
    const auto& own = attributes_of<BroadcastAttributes>(broadcast).dimensions;
    const Dims& operand = broadcast.node().operands[0].dims();
    for (std::size_t i = 0; i < own.size(); ++i)
        if (operand[i] != broadcast.dims()[std::size_t(own[i])] ||
            window[std::size_t(own[i])] != WindowDimension{})
            return false;
    return true;
}

std::optional<Activation> activation_of(const Tensor& y, const Window& window) {
    if (y.node().op != OpCode::maximum || uniform_value(y.node().operands[1]) != 0) return {};
    const Tensor& sum = y.node().operands[0];
    if (sum.node().op != OpCode::add) return {};
    for (const std::size_t i : {0, 1}) {
        const Tensor& bias = sum.node().operands[i];
        const Tensor& x = sum.node().operands[1 - i];
        if (bias.node().op == OpCode::broadcast_in_dim && is_fixed_in(bias, window))
            return Activation{x, bias};
    }
    return {};
}

Tensor pooled_first(const Tensor& pool, const Activation& activation) {
    const Tensor largest = reduce_window(
        activation.x, attributes_of<ReduceWindowAttributes>(pool).window, Reduction::maximum);
    const Node& bias = activation.bias.node();
    return relu(largest +
                broadcast_in_dim(bias.operands[0], pool.dims(),
                                 attributes_of<BroadcastAttributes>(activation.bias).dimensions));
}

/// select(pooled > 0, anything, 0).
bool is_masked_by(const Tensor& source, const Tensor& pooled) {
    if (source.node().op != OpCode::select) return false;
    const Node& mask = source.node().operands[0].node();
    return mask.op == OpCode::compare && mask.operands[0] == pooled &&
           uniform_value(mask.operands[1]) == 0 &&
           std::get<CompareAttributes>(mask.attributes).direction == Comparison::gt &&
           uniform_value(source.node().operands[2]) == 0;
}

bool sums_all_that_moves(const ReduceAttributes& sum, const Window& window) {
    for (std::size_t i = 0; i < window.size(); ++i)
        if (window[i] != WindowDimension{} &&
            std::ranges::count(sum.dimensions, std::int64_t(i)) == 0)
            return false;
    return true;
}

/// The sum over whole images of what was scattered in them needs the terms, not their places; of
/// rounded values too, where windows share no element: rounded terms are rounded sums there.
Tensor sum_of_terms(const Tensor& x) {
    const auto& sum = attributes_of<ReduceAttributes>(x);
    const Tensor& operand = x.node().operands[0];
    const bool is_rounded = is_widened(operand) && is_narrowing(operand.node().operands[0].node());
    const Tensor& scatter = is_rounded ? operand.node().operands[0].node().operands[0] : operand;
    if (sum.reduction != Reduction::add || x.dtype() == DType::bf16 ||
        scatter.node().op != OpCode::select_and_scatter)
        return x;
    const Window& window = attributes_of<SelectAndScatterAttributes>(scatter).window;
    if (!sums_all_that_moves(sum, window) || (is_rounded && !are_disjoint(window))) return x;
    const Tensor& terms = scatter.node().operands[1];
    const Tensor as_summed =
        is_rounded ? convert(convert(terms, DType::bf16), terms.dtype()) : terms;
    return reduce(as_summed, sum.dimensions, Reduction::add);
}

/// A pool that was moved, as its users know it: by what it read before.
struct MovedPool {
    Tensor operand;
    Window window;
    Tensor pooled;
};

}    // namespace

Graph pool_first(const Graph& graph, const PassOptions&) {
    std::vector<MovedPool> moved;
    const auto move_pool = [&](const Tensor& x) {
        const auto& pool = attributes_of<ReduceWindowAttributes>(x);
        if (pool.reduction != Reduction::maximum) return x;
        const auto activation = activation_of(x.node().operands[0], pool.window);
        if (!activation) return x;
        moved.push_back({x.node().operands[0], pool.window, pooled_first(x, *activation)});
        return moved.back().pooled;
    };
    const auto move_scatter = [&](const Tensor& x) {
        const Window& window = attributes_of<SelectAndScatterAttributes>(x).window;
        const Tensor &operand = x.node().operands[0], &source = x.node().operands[1];
        const auto pool = std::ranges::find_if(moved, [&](const MovedPool& one) {
            return one.operand == operand && one.window == window;
        });
        if (pool == moved.end() || !is_masked_by(source, pool->pooled)) return x;
        return select_and_scatter(activation_of(operand, window)->x, source, window);
    };
    return rewrite_nodes(graph, [&](const Tensor& x) {
        if (x.node().op == OpCode::reduce_window) return move_pool(x);
        if (x.node().op == OpCode::select_and_scatter) return move_scatter(x);
        return x.node().op == OpCode::reduce ? sum_of_terms(x) : x;
    });
}

}    // namespace slipway
