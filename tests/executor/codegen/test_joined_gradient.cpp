#include "executor/codegen/joined_gradient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}
Tensor shared_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::replicated, "w");
}

/// The gradient of a convolution's weights in f32, whatever its operands are.
Tensor weights_gradient(const Tensor& x, const Dims& weights, std::int64_t stride,
                        std::int64_t padding) {
    const Tensor y = convolution_2d(x, shared_input(weights, x.dtype()), stride, padding);
    const Tensor gradient =
        row_of(OpCode::convolution).gradient(y, core_input(y.dims(), x.dtype()))[1];
    auto attributes = std::get<ConvolutionAttributes>(gradient.node().attributes);
    attributes.result = DType::f32;
    return convolution(gradient.node().operands[0], gradient.node().operands[1],
                       std::move(attributes));
}

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {.workers = 1, .cores = 4}).steps)
        text += step.name + "\n";
    return text;
}

std::size_t sums_of(const Graph& graph) {
    std::size_t sums = 0;
    for (const Stage& stage : lower(graph, {.workers = 1, .cores = 4}).stages)
        sums += stage.sums.size();
    return sums;
}

struct Joined {
    const char* name;
    Dims x, weights;
    std::int64_t stride = 1, padding = 0;
    DType dtype = DType::f32;
};

const Joined joined[] = {
    {"a_window_of_three", {1, 16, 4, 4}, {64, 16, 3, 3}, 1, 1},
    {"several_images", {3, 16, 2, 2}, {64, 16, 3, 3}, 1, 1},
    {"a_last_block_with_fewer_features", {1, 16, 2, 2}, {150, 16, 3, 3}, 1, 1},
    {"a_stride", {2, 16, 4, 4}, {64, 16, 3, 3}, 2, 1},
    {"points", {1, 64, 2, 2}, {96, 64, 1, 1}},
    {"points_with_a_stride", {2, 64, 4, 4}, {96, 64, 1, 1}, 2},
    {"bf16", {1, 16, 4, 4}, {64, 16, 3, 3}, 1, 1, DType::bf16},
    {"bf16_points", {1, 64, 2, 2}, {96, 64, 1, 1}, 1, 0, DType::bf16},
};

class JoinedGradients : public testing::TestWithParam<Joined> {};

TEST_P(JoinedGradients, are_what_the_reference_says) {
    const Joined& c = GetParam();
    if (c.dtype == DType::bf16 && !multiplies_bf16())
        GTEST_SKIP() << "the library has no bf16 on this processor";
    const Tensor gradient =
        weights_gradient(core_input(c.x, c.dtype), c.weights, c.stride, c.padding);
    ASSERT_TRUE(pays_to_join_gradient(gradient));
    const Graph graph = graph_of({all_reduce(gradient) * constant(0.5)});
    EXPECT_THAT(steps_of(graph), HasSubstr("convolution of all cores"));
    EXPECT_EQ(sums_of(graph), 0U);
    // Four cores' positions, at most 4 * 3 * 16.
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(192), 3), "");
}

INSTANTIATE_TEST_SUITE_P(Cases, JoinedGradients, testing::ValuesIn(joined),
                         [](const auto& test) { return std::string(test.param.name); });

// Goal: images that another convolution of the same core made, and what is copied for the product.
TEST(JoinedGradient, of_images_that_the_cores_computed) {
    const Tensor x = convolution_2d(core_input({1, 16, 4, 4}), shared_input({16, 16, 3, 3}), 1, 1);
    const Tensor turned =
        reshape(transpose(core_input({1, 4, 4, 16}), {0, 3, 1, 2}), {1, 16, 4, 4});
    for (const Tensor& images : {tanh(x), turned}) {
        const Graph graph = graph_of({all_reduce(weights_gradient(images, {64, 16, 3, 3}, 1, 1))});
        EXPECT_THAT(steps_of(graph), HasSubstr("convolution of all cores"));
        EXPECT_EQ(compare_with_reference(graph, sum_tolerance(64 + 144), 5), "");
    }
}

// Of four cores 32 tiles or more, 64 in bf16. Each worker makes the planes where they are small.
const Joined filtered[] = {
    {"tiles_of_several_images", {2, 32, 8, 8}, {64, 32, 3, 3}, 1, 1},
    {"tiles_that_hang_over", {2, 32, 7, 7}, {64, 32, 3, 3}, 1, 1},
    {"no_padding", {2, 32, 10, 10}, {64, 32, 3, 3}, 1, 0},
    {"many_features", {2, 32, 8, 8}, {160, 32, 3, 3}, 1, 1},
    {"channels_of_one_register", {2, 48, 8, 8}, {64, 48, 3, 3}, 1, 1},
    {"images_a_little_larger_than_the_weights", {1, 32, 14, 14}, {64, 32, 3, 3}, 1, 1},
    {"bf16_tiles", {4, 64, 8, 8}, {64, 64, 3, 3}, 1, 1, DType::bf16},
};

// The same where the planes take so much that each worker makes a block of tiles at a time, here of
// several cores.
const Joined in_blocks[] = {
    {"tiles_that_hang_over", {27, 512, 3, 3}, {32, 512, 3, 3}, 1, 1},
    {"bf16_tiles", {46, 256, 3, 3}, {64, 256, 3, 3}, 1, 1, DType::bf16},
};

// The same where all planes take more than a worker's caches hold: they are gathered before.
const Joined gathered[] = {
    {"tiles_of_several_images", {8, 256, 4, 4}, {64, 256, 3, 3}, 1, 1},
    {"tiles_that_hang_over", {8, 256, 3, 3}, {64, 256, 3, 3}, 1, 1},
    {"no_padding", {8, 256, 6, 6}, {32, 256, 3, 3}, 1, 0},
    {"bf16_tiles", {16, 112, 4, 4}, {64, 112, 3, 3}, 1, 1, DType::bf16},
};

void expect_filtered(const Joined& c, bool is_gathered) {
    if (c.dtype == DType::bf16 && (multiplies_bf16_in_tiles() || !multiplies_bf16()))
        GTEST_SKIP() << "bf16 is not filtered where it is multiplied in tiles";
    const Tensor gradient =
        weights_gradient(core_input(c.x, c.dtype), c.weights, c.stride, c.padding);
    const Graph graph = graph_of({all_reduce(gradient) * constant(0.5)});
    const std::string steps = steps_of(graph);
    EXPECT_THAT(steps, HasSubstr("convolution of all cores filtered"));
    EXPECT_EQ(steps.find("planes of all cores") != std::string::npos, is_gathered);
    EXPECT_EQ(sums_of(graph), 0U);
    // 5e-5 of the results' root mean square (test_filtered_convolution.cpp), which is 11 at most:
    // four cores' positions, 4 * 4 * 64 products of numbers in [-1, 1).
    EXPECT_EQ(compare_with_reference(graph, {.absolute = 5.5e-4}, 3), "");
}

class FilteredGradients : public testing::TestWithParam<Joined> {};

TEST_P(FilteredGradients, of_all_cores_are_what_the_reference_says) {
    expect_filtered(GetParam(), false);
}

INSTANTIATE_TEST_SUITE_P(InBlocks, FilteredGradients, testing::ValuesIn(in_blocks),
                         [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(Cases, FilteredGradients, testing::ValuesIn(filtered),
                         [](const auto& test) { return std::string(test.param.name); });

class GatheredGradients : public testing::TestWithParam<Joined> {};

TEST_P(GatheredGradients, of_all_cores_are_what_the_reference_says) {
    expect_filtered(GetParam(), true);
}

INSTANTIATE_TEST_SUITE_P(Cases, GatheredGradients, testing::ValuesIn(gathered),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(JoinedGradient, has_the_same_bits_on_any_number_of_workers) {
    std::vector<Tensor> outputs;
    for (const std::span<const Joined> cases :
         {std::span<const Joined>(joined), std::span<const Joined>(filtered),
          std::span<const Joined>(gathered).first(2), std::span<const Joined>(in_blocks)})
        for (const Joined& c : cases) {
            if (c.dtype == DType::bf16 && !multiplies_bf16()) continue;
            outputs.push_back(all_reduce(
                weights_gradient(core_input(c.x, c.dtype), c.weights, c.stride, c.padding)));
        }
    const Graph graph = graph_of(outputs);
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

// Goal: what is bound by its multiplications, is read by others or has larger operands is made by
// each core.
TEST(JoinedGradient, none_where_it_would_not_pay) {
    const Tensor of_many_positions =
        weights_gradient(core_input({1, 16, 8, 8}), {64, 16, 3, 3}, 1, 1);
    const Tensor of_images_larger_by_a_third =
        weights_gradient(core_input({1, 32, 16, 16}), {64, 32, 3, 3}, 1, 1);
    EXPECT_FALSE(pays_to_join_gradient(of_images_larger_by_a_third));
    const Tensor read_twice = weights_gradient(core_input({1, 16, 4, 4}), {64, 16, 3, 3}, 1, 1);
    const Tensor in_groups = [] {
        const Tensor y = convolution(core_input({1, 16, 4, 4}), shared_input({64, 8, 3, 3}),
                                     {.window = {{.size = 3, .padding_low = 1, .padding_high = 1},
                                                 {.size = 3, .padding_low = 1, .padding_high = 1}},
                                      .input_layout = {0, 1, 2, 3},
                                      .kernel_layout = {0, 1, 2, 3},
                                      .output_layout = {0, 1, 2, 3},
                                      .feature_groups = 2});
        return row_of(OpCode::convolution).gradient(y, core_input(y.dims()))[1];
    }();
    EXPECT_FALSE(pays_to_join_gradient(in_groups));
    for (const Graph& graph :
         {graph_of({all_reduce(of_many_positions)}), graph_of({all_reduce(in_groups)}),
          graph_of({all_reduce(read_twice) + all_reduce(tanh(read_twice))})}) {
        EXPECT_THAT(steps_of(graph), Not(HasSubstr("convolution of all cores")));
        EXPECT_EQ(compare_with_reference(graph, sum_tolerance(4 * 64), 7), "");
    }
}

// A program that was made for the cores' number of its patches runs on no other.
TEST(JoinedGradient, belongs_to_a_number_of_cores) {
    const Graph graph =
        graph_of({all_reduce(weights_gradient(core_input({1, 16, 4, 4}), {64, 16, 3, 3}, 1, 1))});
    EXPECT_EQ(lower(graph, {.workers = 1, .cores = 4}).cores, 4);
    EXPECT_EQ(lower(graph_of({all_reduce(core_input({3}))}), {.workers = 1, .cores = 4}).cores, 0);
}

}    // namespace
}    // namespace slipway
