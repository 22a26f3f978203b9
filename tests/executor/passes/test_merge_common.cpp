#include <gtest/gtest.h>

#include "executor/graph/ops.h"
#include "executor/passes/passes.h"

namespace slipway {
namespace {

Tensor input() {
    return input({DType::f32, {2}}, Placement::replicated, "x");
}

std::size_t merged_count(const Graph& graph) {
    return topological_order(merge_common(graph)).size();
}

TEST(MergeCommon, equal_expressions_become_one) {
    const Tensor x = input();
    const Graph graph{{x}, {tanh(x) * tanh(x)}, {}};
    const Graph merged = merge_common(graph);
    const auto& operands = merged.outputs[0].node().operands;
    EXPECT_EQ(operands[0], operands[1]);
}

TEST(MergeCommon, equal_expressions_of_equal_expressions_become_one) {
    const Tensor x = input();
    const Graph graph{{x}, {negate(tanh(x)), negate(tanh(x))}, {}};
    const Graph merged = merge_common(graph);
    EXPECT_EQ(merged.outputs[0], merged.outputs[1]);
    EXPECT_EQ(topological_order(merged).size(), 3u);
}

// Goal: equal numbers today may differ tomorrow, so inputs of one shape stay apart, and so does
// what is made of them, although their nodes' hashes are equal.
TEST(MergeCommon, inputs_of_one_shape_are_never_merged) {
    const Tensor x = input();
    const Tensor z = input();
    ASSERT_EQ(tanh(x).node().hash, tanh(z).node().hash);
    const Graph graph{{x, z}, {tanh(x) - tanh(z)}, {}};
    EXPECT_EQ(merged_count(graph), 5u);
    EXPECT_EQ(merge_common(graph).inputs, graph.inputs);
}

TEST(MergeCommon, other_attributes_operands_or_types_stay_apart) {
    const Tensor x = input();
    const Tensor z = input();
    EXPECT_EQ(merged_count({{x, z}, {x - z, z - x}, {}}), 4u);
    EXPECT_EQ(merged_count({{x}, {convert(x, DType::i32), convert(x, DType::i64)}, {}}), 3u);
    EXPECT_EQ(merged_count(
                  {{x}, {reduce(x, {0}, Reduction::add), reduce(x, {0}, Reduction::maximum)}, {}}),
              3u);
    EXPECT_EQ(merged_count({{}, {constant(0.0), constant(-0.0)}, {}}), 2u);
    EXPECT_EQ(merged_count({{}, {constant(1.0), constant(1.0)}, {}}), 1u);
}

}    // namespace
}    // namespace slipway
