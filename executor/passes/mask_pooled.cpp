// The gradient of relu before a maximum pool is a mask over all elements of the input, and the
// pool's gradient scatters into the same elements. An element that the pool has picked is above
// zero exactly when the pooled value is, so the mask can be applied to the pooled values before
// they are scattered: a quarter of the elements for a pool of 2 x 2, the same bits.
#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

template <class Wanted>
const Wanted& attributes_of(const Tensor& x) {
    return std::get<Wanted>(x.node().attributes);
}

bool is_maximum_pool(const Tensor& x) {
    return x.node().op == OpCode::reduce_window &&
           attributes_of<ReduceWindowAttributes>(x).reduction == Reduction::maximum;
}

/// select(compare(y, number), select_and_scatter(y, source), 0): the gradient of relu, say, below
/// that of the pool that read its result y.
bool is_masked_scatter(const Tensor& x) {
    if (x.node().op != OpCode::select) return false;
    const Node& mask = x.node().operands[0].node();
    const Node& scatter = x.node().operands[1].node();
    return mask.op == OpCode::compare && scatter.op == OpCode::select_and_scatter &&
           mask.operands[0] == scatter.operands[0] && uniform_value(mask.operands[1]) &&
           uniform_value(x.node().operands[2]) == 0;
}

Tensor filled(double value, const Tensor& like) {
    return broadcast(constant(value, like.dtype()), like.dims());
}

/// What is scattered goes where y is its window's largest element: there the mask is that of the
/// largest element.
Tensor masked_before(const Tensor& x, const Tensor& largest) {
    const Node& node = x.node();
    const Tensor& mask = node.operands[0];
    const Tensor& scatter = node.operands[1];
    const Tensor& source = scatter.node().operands[1];
    const double number = *uniform_value(mask.node().operands[1]);
    const Tensor kept =
        compare(largest, filled(number, largest), attributes_of<CompareAttributes>(mask).direction);
    return select_and_scatter(scatter.node().operands[0], select(kept, source, filled(0, source)),
                              attributes_of<SelectAndScatterAttributes>(scatter).window);
}

}    // namespace

Graph mask_pooled(const Graph& graph, const PassOptions&) {
    std::vector<Tensor> pools;
    return rewrite_nodes(graph, [&](const Tensor& x) {
        if (is_maximum_pool(x)) pools.push_back(x);
        if (!is_masked_scatter(x)) return x;
        const Tensor& scatter = x.node().operands[1];
        const auto largest = std::ranges::find_if(pools, [&](const Tensor& pool) {
            return pool.node().operands[0] == scatter.node().operands[0] &&
                   attributes_of<ReduceWindowAttributes>(pool).window ==
                       attributes_of<SelectAndScatterAttributes>(scatter).window;
        });
        return largest == pools.end() ? x : masked_before(x, *largest);
    });
}

}    // namespace slipway
