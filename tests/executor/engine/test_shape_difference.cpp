#include "executor/engine/shape_difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/graph/ops.h"

namespace slipway {
namespace {

using testing::HasSubstr;

/// A linear layer over a batch, summed: two inputs, one output.
Graph layer(std::int64_t batch, std::int64_t width, bool twice = false) {
    const Tensor x = input({DType::f32, {batch, 8}}, Placement::per_core, "features");
    const Tensor w = input({DType::f32, {8, width}}, Placement::replicated, "w");
    const Tensor y = matmul(x, w);
    Graph graph;
    graph.inputs = {x, w};
    graph.outputs = {all_reduce(reduce(twice ? y + y : y, {0, 1}, Reduction::add))};
    return graph;
}

TEST(ShapeDifference, names_the_input_that_differs) {
    EXPECT_EQ(difference(shapes_of(layer(16, 4)), shapes_of(layer(32, 4))),
              "features is f32[16,8], was f32[32,8]");
    EXPECT_EQ(difference(shapes_of(layer(16, 5)), shapes_of(layer(32, 4))),
              "features is f32[16,8], was f32[32,8]; w is f32[8,5], was f32[8,4]");
}

TEST(ShapeDifference, says_so_when_only_the_computation_differs) {
    EXPECT_THAT(difference(shapes_of(layer(16, 4, true)), shapes_of(layer(16, 4))),
                HasSubstr("the computation differs"));
}

TEST(ShapeDifference, names_placement_outputs_and_numbers_of_inputs) {
    Graph one = layer(16, 4);
    GraphShapes wanted = shapes_of(one), known = wanted;
    known.inputs[1].placement = Placement::per_core;
    EXPECT_EQ(difference(wanted, known), "w is replicated, was per core");
    known = wanted;
    known.outputs[0].shape = {DType::f32, {3}};
    EXPECT_EQ(difference(wanted, known), "output 0 is f32[], was f32[3]");
    known = wanted;
    known.outputs.push_back(known.outputs[0]);
    EXPECT_EQ(difference(wanted, known), "it has 1 outputs, was 2");
    known = wanted;
    known.inputs.push_back({"bias", {DType::f32, {4}}, Placement::replicated});
    EXPECT_EQ(difference(wanted, known), "it has 2 inputs, was 3");
}

TEST(ShapeDifference, spells_out_no_more_than_a_line) {
    GraphShapes wanted, known;
    for (int i = 0; i < 30; ++i) {
        wanted.inputs.push_back({"w" + std::to_string(i), {DType::f32, {1}}});
        known.inputs.push_back({"w" + std::to_string(i), {DType::f32, {2}}});
    }
    EXPECT_THAT(difference(wanted, known), HasSubstr("; and 22 more"));
}

TEST(ShapeDifference, the_nearest_graph_is_the_one_with_the_fewest_other_shapes) {
    const GraphShapes wanted = shapes_of(layer(16, 4)), batch = shapes_of(layer(32, 4)),
                      both = shapes_of(layer(32, 5)), computation = shapes_of(layer(16, 4, true));
    GraphShapes longer = wanted;
    longer.inputs.push_back(longer.inputs[0]);
    const std::vector<const GraphShapes*> known{&longer, &both, &batch, &computation};
    EXPECT_EQ(nearest_shapes(wanted, known), 3U);
    EXPECT_EQ(nearest_shapes(wanted, std::span(known).first(3)), 2U);
    EXPECT_EQ(nearest_shapes(wanted, std::span(known).first(1)), 0U);
}

}    // namespace
}    // namespace slipway
