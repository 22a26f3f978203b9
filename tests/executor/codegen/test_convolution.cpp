#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
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

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {}).steps)
        text += step.name + "\n";
    return text;
}

struct ConvolutionCase {
    const char* name;
    Dims input, kernel;
    std::vector<WindowDimension> window;
    std::int64_t feature_groups = 1;
};

WindowDimension window(std::int64_t size, std::int64_t stride, std::int64_t padding,
                       std::int64_t dilation = 1) {
    return {.size = size,
            .stride = stride,
            .padding_low = padding,
            .padding_high = padding,
            .window_dilation = dilation};
}

const ConvolutionCase convolution_cases[] = {
    {"lenet_first", {1, 1, 28, 28}, {6, 1, 5, 5}, {window(5, 1, 2), window(5, 1, 2)}},
    {"lenet_second", {1, 6, 14, 14}, {16, 6, 5, 5}, {window(5, 1, 0), window(5, 1, 0)}},
    {"three_by_three", {2, 16, 7, 7}, {16, 16, 3, 3}, {window(3, 1, 1), window(3, 1, 1)}},
    {"stride_two", {2, 5, 9, 9}, {7, 5, 3, 3}, {window(3, 2, 1), window(3, 2, 1)}},
    {"stride_leaves_a_rest", {2, 3, 10, 11}, {4, 3, 3, 2}, {window(3, 2, 0), window(2, 3, 0)}},
    {"one_by_one", {3, 8, 5, 5}, {4, 8, 1, 1}, {window(1, 1, 0), window(1, 1, 0)}},
    {"one_by_one_square", {3, 16, 5, 5}, {16, 16, 1, 1}, {window(1, 1, 0), window(1, 1, 0)}},
    {"one_by_one_stride_two", {3, 8, 6, 6}, {4, 8, 1, 1}, {window(1, 2, 0), window(1, 2, 0)}},
    {"dilated", {2, 3, 12, 12}, {4, 3, 3, 3}, {window(3, 1, 2, 2), window(3, 2, 1, 3)}},
    {"uneven_padding",
     {2, 3, 8, 8},
     {4, 3, 3, 4},
     {{.size = 3, .padding_low = 2, .padding_high = 0},
      {.size = 4, .stride = 2, .padding_low = 0, .padding_high = 3}}},
    {"negative_padding",
     {2, 3, 9, 9},
     {4, 3, 3, 3},
     {{.size = 3, .padding_low = -1, .padding_high = -2}, {.size = 3, .padding_low = -1}}},
    {"padding_beyond_the_kernel", {2, 3, 4, 4}, {4, 3, 2, 2}, {window(2, 1, 3), window(2, 1, 2)}},
    {"whole_image", {3, 4, 6, 6}, {5, 4, 6, 6}, {window(6, 1, 0), window(6, 1, 0)}},
    {"groups", {2, 6, 8, 8}, {9, 2, 3, 3}, {window(3, 1, 1), window(3, 1, 1)}, 3},
    {"depthwise", {2, 6, 8, 8}, {6, 1, 3, 3}, {window(3, 2, 1), window(3, 1, 1)}, 6},
    {"one_spatial", {2, 3, 20}, {4, 3, 5}, {window(5, 2, 1)}},
    {"three_spatial",
     {2, 2, 5, 6, 7},
     {3, 2, 2, 3, 2},
     {window(2, 1, 1), window(3, 2, 1), window(2, 1, 0)}},
    {"many_channels", {1, 34, 6, 5}, {33, 34, 3, 2}, {window(3, 1, 1), window(2, 2, 1, 2)}},
    {"point_stride_two", {2, 32, 7, 7}, {40, 32, 1, 1}, {window(1, 2, 0), window(1, 2, 0)}},
    {"many_channels_cut",
     {1, 32, 7, 7},
     {32, 32, 2, 2},
     {{.size = 2, .padding_low = -1, .padding_high = 1}, window(2, 1, 0)}},
    {"one_channel", {2, 1, 9, 10}, {32, 1, 3, 3}, {window(3, 1, 1), window(3, 1, 1)}},
    {"one_channel_stride", {3, 1, 11, 12}, {16, 1, 5, 5}, {window(5, 2, 2), window(5, 3, 1)}},
    {"one_channel_cut",
     {2, 1, 9, 9},
     {16, 1, 3, 3},
     {{.size = 3, .padding_low = -1, .padding_high = -2},
      {.size = 3, .stride = 2, .padding_low = 2, .padding_high = 4}}},
    {"gaps_in_the_input",
     {2, 3, 5, 5},
     {4, 3, 3, 3},
     {{.size = 3, .padding_low = 2, .padding_high = 2, .base_dilation = 2},
      {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 2, .base_dilation = 3}}},
};

Tensor convolve(const ConvolutionCase& c, const Tensor& x, const Tensor& w) {
    return convolution(x, w,
                       {.window = c.window,
                        .input_layout = {},
                        .kernel_layout = {},
                        .output_layout = {},
                        .feature_groups = c.feature_groups});
}

class Convolutions : public testing::TestWithParam<ConvolutionCase> {};

TEST_P(Convolutions, and_their_gradients_are_what_the_reference_says) {
    const ConvolutionCase& c = GetParam();
    const Tensor x = core_input(c.input);
    const Tensor w = shared_input(c.kernel);
    const Tensor y = convolve(c, x, w);
    const Tensor dy = core_input(y.dims());
    Dims all(y.dims().size());
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i] = std::int64_t(i);
    const std::vector<Tensor> parameters{x, w};
    const auto gradient = gradients(reduce(y * dy, all, Reduction::add), parameters);
    const std::int64_t terms = std::max(Shape{DType::f32, c.kernel}.element_count(),
                                        y.shape().element_count() / y.dims()[1]);
    EXPECT_EQ(
        compare_with_reference(graph_of({y, gradient[0], gradient[1]}), sum_tolerance(terms), 1),
        "");
}

/// A convolution node with an f32 result.
Tensor summed_in_f32(const Tensor& y) {
    auto attributes = std::get<ConvolutionAttributes>(y.node().attributes);
    attributes.result = DType::f32;
    return convolution(y.node().operands[0], y.node().operands[1], std::move(attributes));
}

// Products of bf16 are exact in f32 and summed there; a bf16 result is rounded once, near a tie
// perhaps to the other neighbour: 2^-7 of it.
TEST_P(Convolutions, of_bf16_are_what_the_reference_says) {
    const ConvolutionCase& c = GetParam();
    const Tensor x = core_input(c.input, DType::bf16);
    const Tensor w = shared_input(c.kernel, DType::bf16);
    const Tensor y = convolve(c, x, w);
    const Tensor dy = core_input(y.dims(), DType::bf16);
    const auto gradient = row_of(OpCode::convolution).gradient(y, dy);
    std::vector<Tensor> outputs{y, summed_in_f32(y), gradient[0]};
    if (gradient[1].node().op == OpCode::convolution)
        outputs.push_back(all_reduce(summed_in_f32(gradient[1])));
    const std::int64_t terms = std::max(Shape{DType::f32, c.kernel}.element_count(),
                                        y.shape().element_count() / y.dims()[1]);
    Tolerance tolerance = sum_tolerance(4 * terms);
    tolerance.relative += 1.0 / 128;
    EXPECT_EQ(compare_with_reference(graph_of(outputs), tolerance, 3), "");
}

TEST_P(Convolutions, in_other_layouts_are_what_the_reference_says) {
    const ConvolutionCase& c = GetParam();
    const auto rank = std::int64_t(c.input.size());
    Dims last;    // channels last: role i is dimension last[i]
    for (std::int64_t i = 0; i < rank; ++i)
        last.push_back(i == 0 ? 0 : i == 1 ? rank - 1 : i - 1);
    Dims permutation;
    for (std::int64_t i = 0; i < rank; ++i)
        permutation.push_back(i == 0 ? 0 : i == rank - 1 ? 1 : i + 1);
    const Tensor x = core_input(c.input);
    const Tensor w = shared_input(c.kernel);
    const Tensor y = convolution(transpose(x, permutation), transpose(w, permutation),
                                 {.window = c.window,
                                  .input_layout = last,
                                  .kernel_layout = last,
                                  .output_layout = last,
                                  .feature_groups = c.feature_groups});
    const auto terms = Shape{DType::f32, c.kernel}.element_count();
    EXPECT_EQ(compare_with_reference(graph_of({y}), sum_tolerance(terms), 2), "");
}

// Goal: convolutions with enough tiles are done by minimal filtering, forward and both gradients.
// Method: its transforms add and subtract multiples of their operands, so results are off by up to
// 3e-5 of their typical size, a third of the root of the number of terms: 8 for the 576.
TEST(Convolution, of_many_tiles_is_what_the_reference_says) {
    const Tensor x = core_input({32, 64, 3, 3});
    const Tensor w = shared_input({32, 64, 3, 3});
    const Tensor y = convolution_2d(x, w, 1, 1);
    const auto gradient = row_of(OpCode::convolution).gradient(y, core_input(y.dims()));
    const Graph graph = graph_of({y, gradient[0], gradient[1]});
    std::size_t filtered = 0;
    for (const Step& step : lower(graph, {}).steps)
        filtered += step.name.starts_with("convolution filtered") ? 1 : 0;
    EXPECT_EQ(filtered, 3u) << steps_of(graph);
    const auto inputs = random_inputs(graph, 1, 4);
    const auto expected = evaluate(graph, inputs, 1);
    const auto results = run_graph(graph, inputs, {.cores = 1, .workers = 1});
    for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(difference(results[i], expected[i], {2.4e-4, 0}), "") << "output " << i;
}

// Goal: a gradient of weights as products with patches, of five images at a time; of all at once
// where sums of blocks would be rounded to bf16.
TEST(Convolution, weights_gradient_of_many_patches_is_what_the_reference_says) {
    const Tensor x = core_input({10, 32, 14, 14}, DType::bf16);
    const Tensor y = convolution_2d(x, shared_input({32, 32, 3, 3}, DType::bf16), 1, 1);
    const Tensor dy = core_input(y.dims(), DType::bf16);
    const Tensor gradient = row_of(OpCode::convolution).gradient(y, dy)[1];
    Tolerance rounded = sum_tolerance(10 * 196);
    rounded.relative += 1.0 / 128;
    const std::pair<Tensor, Tolerance> cases[] = {
        {all_reduce(summed_in_f32(gradient)), sum_tolerance(2 * 10 * 196)}, {gradient, rounded}};
    for (const auto& [output, tolerance] : cases) {
        const Graph graph = graph_of({output});
        if (multiplies_bf16()) {
            EXPECT_THAT(steps_of(graph), HasSubstr("convolution patches"));
        }
        const auto inputs = random_inputs(graph, 2, 5);
        const auto results = run_graph(graph, inputs, {.cores = 2, .workers = 1});
        EXPECT_EQ(difference(results[0], evaluate(graph, inputs, 2)[0], tolerance), "")
            << to_string(output.dtype());
    }
}

// Goal: windows side by side, whose patches are a copy of the image, are a product for few channels
// as well; those that overlap are not.
TEST(Convolution, weights_gradient_of_windows_side_by_side_is_a_product_of_patches) {
    for (const auto& [stride, is_product] : {std::pair{8, true}, {4, false}}) {
        const Tensor x = core_input({4, 3, 32, 32});
        const Tensor y = convolution_2d(x, shared_input({16, 3, 8, 8}), stride, 0);
        const Tensor dy = core_input(y.dims());
        const Graph graph = graph_of({row_of(OpCode::convolution).gradient(y, dy)[1]});
        EXPECT_EQ(steps_of(graph).find("convolution patches") != std::string::npos, is_product)
            << steps_of(graph);
        const auto inputs = random_inputs(graph, 2, 6);
        const auto results = run_graph(graph, inputs, {.cores = 2, .workers = 1});
        EXPECT_EQ(difference(results[0], evaluate(graph, inputs, 2)[0], sum_tolerance(4 * 49)), "")
            << stride;
    }
}

TEST(Convolution, of_one_channel_and_its_weights_gradient_have_kernels_of_their_own) {
    const auto steps_with = [](std::int64_t outputs, std::int64_t size) {
        const Tensor x = core_input({2, 1, 9, 9});
        const Tensor y = convolution_2d(x, shared_input({outputs, 1, size, size}), 1, 1);
        const Tensor dy = core_input(y.dims());
        std::string kinds;
        const Graph graph = graph_of({y, row_of(OpCode::convolution).gradient(y, dy)[1]});
        for (const Step& step : lower(graph, {}).steps)
            if (step.name.starts_with("convolution"))
                kinds += step.name.starts_with("convolution one channel") ? 'o' : 'l';
        return kinds;
    };
    EXPECT_EQ(steps_with(16, 3), "oo");
    EXPECT_EQ(steps_with(32, 5), "oo");
    EXPECT_EQ(steps_with(6, 5), "ll") << "not a register of outputs";
    EXPECT_EQ(steps_with(16, 4), "ll");
}

// Goal: convolutions of small images with large weights, forward and of the input's gradient, whose
// kernel is reversed, as products of patches.
TEST(Convolution, of_few_positions_is_what_the_reference_says) {
    const Tensor w = shared_input({512, 256, 3, 3}, DType::bf16);
    const Tensor y = convolution_2d(core_input({32, 256, 2, 1}, DType::bf16), w, 1, 1);
    const Tensor dy = core_input(y.dims(), DType::bf16);
    const Tensor dx = row_of(OpCode::convolution).gradient(y, dy)[0];
    const Graph graph = graph_of({summed_in_f32(y), dx});
    std::size_t patches = 0;
    for (const Step& step : lower(graph, {}).steps)
        patches += step.name.starts_with("patches") ? 1 : 0;
    EXPECT_EQ(patches, 2u) << steps_of(graph);
    const auto inputs = random_inputs(graph, 1, 6);
    const auto expected = evaluate(graph, inputs, 1);
    const auto results = run_graph(graph, inputs, {.cores = 1, .workers = 1});
    Tolerance tolerance = sum_tolerance(512 * 9);
    tolerance.relative += 1.0 / 128;
    for (std::size_t i = 0; i < results.size(); ++i)
        EXPECT_EQ(difference(results[i], expected[i], tolerance), "") << "output " << i;
}

INSTANTIATE_TEST_SUITE_P(Product, Convolutions, testing::ValuesIn(convolution_cases),
                         [](const auto& row) { return std::string(row.param.name); });

/// The kinds of steps of a program, in short: c convolution, p pack, u unpack, m
/// moving elements about, . all else.
std::string kinds_of_steps(const Graph& graph) {
    std::string kinds;
    for (const Step& step : lower(graph, {}).steps) {
        const auto is = [&](std::string_view prefix) { return step.name.starts_with(prefix); };
        kinds += is("convolution") ? 'c'
                 : is("pack")      ? 'p'
                 : is("unpack")    ? 'u'
                 : is("copy")      ? 'm'
                                   : '.';
    }
    return kinds;
}

struct TwoLayers {
    Tensor x = core_input({2, 5, 10, 9});
    std::vector<Tensor> weights{shared_input({32, 5, 3, 3}), shared_input({16, 32, 3, 3})};
    Graph graph;

    explicit TwoLayers(std::int64_t stride) {
        const Tensor hidden = tanh(convolution_2d(x, weights[0], stride, 1));
        const Tensor y = convolution_2d(hidden, weights[1], 1, 1);
        std::vector<Tensor> sums;
        for (const Tensor& gradient :
             gradients(reduce(y * y, {0, 1, 2, 3}, Reduction::add), weights))
            sums.push_back(all_reduce(gradient) * constant(0.5));
        graph = graph_of(sums);
    }
};

// Goal: the images stay channels-last from layer to layer, and weights are packed once.
TEST(Convolution, of_a_training_step_moves_nothing_but_the_input_and_the_weights) {
    for (const std::int64_t stride : {1, 2}) {
        const TwoLayers net(stride);
        const std::string steps = steps_of(net.graph);
        EXPECT_THAT(steps, Not(HasSubstr("loops")));
        EXPECT_THAT(steps, Not(HasSubstr("gemm")));
        const std::string kinds = kinds_of_steps(net.graph);
        EXPECT_EQ(std::ranges::count(kinds, 'c'), 5) << steps;    // no gradient of the input
        EXPECT_EQ(std::ranges::count(kinds, 'p'), 3) << steps;
        EXPECT_EQ(std::ranges::count(kinds, 'u'), 2) << steps;
        EXPECT_EQ(std::ranges::count(kinds, 'm'), 1) << steps;
        // Gradients of a few hundred: sums of thousands of terms that are not small.
        EXPECT_EQ(compare_with_reference(net.graph, {1e-3, 1e-5}, 7), "");
    }
}

TEST(Convolution, has_the_same_bits_on_any_number_of_workers) {
    const TwoLayers net(2);
    const auto inputs = random_inputs(net.graph, 8, 9);
    const auto expected = run_graph(net.graph, inputs, {8, 1});
    for (const int workers : {2, 3, 8}) {
        const auto actual = run_graph(net.graph, inputs, {8, workers});
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(difference(actual[i], expected[i], exactly), "") << workers << " workers";
    }
}

TEST(Convolution, packs_weights_before_the_cores_run_and_unpacks_their_gradient_after) {
    const TwoLayers net(1);
    const Program program = lower(net.graph, {});
    for (const Stage& stage : program.stages)
        for (std::size_t i = 0; i < stage.step_count; ++i) {
            const std::string& name = program.steps[stage.first_step + i].name;
            if (name.starts_with("pack") || name.starts_with("unpack")) {
                EXPECT_FALSE(stage.per_core) << name;
            }
        }
}

TEST(Convolution, no_library_takes_runs_by_loops) {
    const Tensor x = core_input({2, 3, 5, 5});
    const Tensor w = shared_input({4, 3, 3, 3});
    const Tensor y = convolve(convolution_cases[std::size(convolution_cases) - 1], x, w);
    EXPECT_THAT(steps_of(graph_of({y})), HasSubstr("loops"));
    const Tensor flat = convolution(core_input({5, 6}), shared_input({7, 6}), {});
    EXPECT_EQ(compare_with_reference(graph_of({flat}), sum_tolerance(6), 3), "");
}

// Goal: whatever a convolution node may say, not only what layers and gradients say.
void check_random_attributes(DType operands, DType results, std::uint64_t seeds) {
    Tolerance tolerance = sum_tolerance(48);
    if (results == DType::bf16) tolerance.relative += 1.0 / 128;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        std::mt19937_64 random(seed);
        const auto upto = [&](std::int64_t most) {
            return 1 + std::int64_t(random() % std::uint64_t(most));
        };
        ConvolutionAttributes a;
        a.result = results;
        const std::int64_t groups = upto(2);
        (random() % 2 == 0 ? a.feature_groups : a.batch_groups) = groups;
        Dims input{upto(3) * a.batch_groups, upto(3) * a.feature_groups};
        Dims kernel{upto(3) * groups, input[1] / a.feature_groups};
        for (int i = 0; i < 2; ++i) {
            WindowDimension w{.size = upto(4),
                              .stride = upto(3),
                              .padding_low = upto(6) - 3,
                              .padding_high = upto(6) - 3,
                              .base_dilation = upto(2),
                              .window_dilation = upto(2)};
            input.push_back(upto(7) + 2);
            kernel.push_back(w.size);
            a.window.push_back(w);
        }
        Dims layout{0, 1, 2, 3};
        const auto shuffled = [&](Dims& place, const Dims& extents) {
            std::ranges::shuffle(layout, random);
            place = layout;
            Dims dims(extents.size());
            for (std::size_t i = 0; i < extents.size(); ++i)
                dims[std::size_t(layout[i])] = extents[i];
            return dims;
        };
        const Tensor x = core_input(shuffled(a.input_layout, input), operands);
        Tensor w = shared_input(shuffled(a.kernel_layout, kernel), operands);
        if (random() % 2 == 0) w = reverse(w, {a.kernel_layout[2], a.kernel_layout[3]});
        std::ranges::shuffle(layout, random);
        a.output_layout = layout;
        Tensor y;
        try {
            y = convolution(x, w, a);
        } catch (const Error&) {
            continue;    // the kernel does not fit into this input
        }
        ASSERT_EQ(compare_with_reference(graph_of({y}), tolerance, seed), "") << seed;
    }
}

TEST(Convolution, is_what_the_reference_says_for_random_attributes) {
    check_random_attributes(DType::f32, DType::f32, 150);
    check_random_attributes(DType::bf16, DType::f32, 80);
    check_random_attributes(DType::bf16, DType::bf16, 80);
}

}    // namespace
}    // namespace slipway
