// Goal: a value that is used twice at every level, as in the hash that draws a dropout mask, costs
// one link to each reader, however deep the levels are.
// Method: counts links instead of seconds: doubled at each level they would be 2^60.
#include "executor/codegen/fusion_nodes.h"

#include <gtest/gtest.h>

#include "executor/codegen/fusion.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

/// `levels` times x ^ (x >> 15), of a counter, added to an input: on one core or on each.
Graph hashed(int levels, Placement placement) {
    Tensor x = iota({DType::u32, {64, 8}}, 0);
    for (int level = 0; level < levels; ++level)
        x = logical_xor(x, shift_right_logical(x, constant(15, DType::u32)));
    const Tensor y = input({DType::f32, {64, 8}}, placement, "y");
    return graph_of({y + convert(x, DType::f32)});
}

std::size_t link_count(const FusionNodes& nodes) {
    std::size_t count = 0;
    for (const std::vector<ReadLink>& links : nodes.users)
        count += links.size();
    return count;
}

TEST(FusionNodes, what_is_passed_through_leaves_one_link_from_a_source_to_a_reader) {
    const Graph graph = hashed(60, Placement::replicated);
    const Analysis analysis = analyse(graph);
    FusionNodes nodes(graph, analysis);
    const std::size_t links = link_count(nodes);
    std::size_t passed = 0;
    for (std::size_t id = nodes.size() - 1; id-- > 0;) {
        if (nodes.tensors[id].node().operands.empty()) continue;
        nodes.pass_through(id);
        ASSERT_LE(link_count(nodes), links) << ++passed;
    }
}

TEST(FusionNodes, a_mask_of_many_levels_is_fused_on_every_core_or_on_one) {
    for (const Placement placement : {Placement::replicated, Placement::per_core}) {
        const Graph graph = hashed(60, placement);
        const Fusion fusion = fuse(graph, analyse(graph));
        EXPECT_EQ(fusion.clusters.size(), 1U);
    }
}

}    // namespace
}    // namespace slipway
