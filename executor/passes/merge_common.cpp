// Common subexpressions by hash: a node's hash covers operation, attributes, shape and operands,
// so equal nodes have equal hashes and a table of those kept so far finds them in one pass.
// Inputs of one shape have equal hashes too, therefore candidates are compared by the identity
// of their operands. The operands have been merged before, so identity is enough.
#include <unordered_map>

#include "executor/passes/passes.h"
#include "executor/passes/rewrite.h"

namespace slipway {

namespace {

bool are_same(const Node& x, const Node& y) {
    return x.hash == y.hash && x.op == y.op && x.shape == y.shape && x.placement == y.placement &&
           x.operands == y.operands && x.attributes == y.attributes;
}

}    // namespace

Graph merge_common(const Graph& graph, const PassOptions&) {
    // Equal nodes have equal hashes; nodes over different inputs of one shape have, too.
    std::unordered_multimap<std::uint64_t, Tensor> kept;
    return rewrite_nodes(graph, [&](const Tensor& x) {
        const auto [begin, end] = kept.equal_range(x.node().hash.low);
        for (auto candidate = begin; candidate != end; ++candidate)
            if (are_same(candidate->second.node(), x.node())) return candidate->second;
        kept.emplace(x.node().hash.low, x);
        return x;
    });
}

}    // namespace slipway
