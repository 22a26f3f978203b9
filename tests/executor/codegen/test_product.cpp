#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor core_leaf(Dims dims, DType dtype = DType::f32) {
    return leaf({dtype, std::move(dims)}, Placement::per_core, "x");
}
Tensor shared_leaf(Dims dims) {
    return leaf({DType::f32, std::move(dims)}, Placement::replicated, "w");
}

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {}).steps)
        text += step.name + "\n";
    return text;
}

std::int64_t picked_count(const Dims& dims, const Dims& which) {
    std::int64_t count = 1;
    for (const std::int64_t i : which)
        count *= dims[std::size_t(i)];
    return count;
}

// ---- dot_general ---------------------------------------------------------------------------

TEST(DotGeneral, multiplies_matrices_in_each_transposition) {
    const Tensor ab = core_leaf({33, 70});
    const Tensor ba = core_leaf({70, 33});
    const Tensor bc = shared_leaf({70, 20});
    const Tensor cb = shared_leaf({20, 70});
    EXPECT_EQ(
        compare_with_reference(
            graph_of(
                {dot_general(ab, bc, {{}, {}, {1}, {0}}), dot_general(ab, cb, {{}, {}, {1}, {1}}),
                 dot_general(ba, bc, {{}, {}, {0}, {0}}), dot_general(ba, cb, {{}, {}, {0}, {1}}),
                 matmul(transpose(ba, {1, 0}), transpose(cb, {1, 0})), matmul(reverse(ab, {1}), bc),
                 matmul(ab, reverse(bc, {0, 1})), matmul(slice(ab, {1, 0}, {33, 70}, {2, 1}), bc),
                 matmul(slice(ab, {0, 0}, {33, 70}, {1, 2}), slice(bc, {0, 3}, {35, 11}, {1, 1}))}),
            sum_tolerance(70), 1),
        "");
}

TEST(DotGeneral, takes_transpositions_and_batches_without_copies) {
    const Tensor x = core_leaf({4, 8, 5, 16});
    const Tensor y = core_leaf({4, 8, 7, 16});
    const Tensor scores = dot_general(x, y, {{0, 1}, {0, 1}, {3}, {3}});
    const Tensor w = shared_leaf({10, 80});
    const Tensor z = matmul(reshape(x, {32, 80}), transpose(w, {1, 0}));
    EXPECT_EQ(lower(graph_of({scores, z}), {}).steps.size(), 2u);
    EXPECT_EQ(compare_with_reference(graph_of({scores, z}), sum_tolerance(80), 2), "");
}

TEST(DotGeneral, knows_vectors_scalars_and_empty_extents) {
    const Tensor x = core_leaf({9});
    const Tensor y = shared_leaf({9});
    const Tensor m = shared_leaf({9, 6});
    const Tensor scalar = core_leaf({});
    EXPECT_EQ(
        compare_with_reference(
            graph_of({dot_general(x, y, {{}, {}, {0}, {0}}), dot_general(x, y, {{}, {}, {}, {}}),
                      dot_general(x, y, {{0}, {0}, {}, {}}), dot_general(x, m, {{}, {}, {0}, {0}}),
                      dot_general(m, x, {{}, {}, {0}, {0}}),
                      dot_general(scalar, m, {{}, {}, {}, {}}),
                      dot_general(scalar, scalar, {{}, {}, {}, {}}),
                      dot_general(core_leaf({3, 0}), shared_leaf({0, 4}), {{}, {}, {1}, {0}}),
                      dot_general(core_leaf({0, 3}), shared_leaf({3, 4}), {{}, {}, {1}, {0}}),
                      dot_general(broadcast_in_dim(x, {5, 9}, {1}), m, {{}, {}, {1}, {0}})}),
            sum_tolerance(9), 3),
        "");
}

// Goal: any choice and order of batched and contracted dimensions, of up to five dimensions.
TEST(DotGeneral, is_what_the_reference_says_for_random_dimensions) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        const auto some = [&](std::size_t most) { return std::size_t(random() % (most + 1)); };
        DotAttributes a;
        Dims lhs, rhs;
        std::vector<int> kinds;    // 0 batch, 1 contracted, 2 lhs only, 3 rhs only
        for (int kind : {0, 1, 2, 3})
            kinds.insert(kinds.end(), some(kind < 2 ? 2 : 1) + (kind == 1), kind);
        std::vector<std::pair<int, std::int64_t>> lhs_dims, rhs_dims;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            if (kinds[i] != 3) lhs_dims.emplace_back(int(i), 1 + std::int64_t(random() % 6));
            if (kinds[i] == 3) rhs_dims.emplace_back(int(i), 1 + std::int64_t(random() % 6));
            if (kinds[i] < 2) rhs_dims.emplace_back(int(i), lhs_dims.back().second);
        }
        std::ranges::shuffle(lhs_dims, random);
        std::ranges::shuffle(rhs_dims, random);
        for (const auto& [label, extent] : lhs_dims)
            lhs.push_back(extent);
        for (const auto& [label, extent] : rhs_dims)
            rhs.push_back(extent);
        for (std::size_t i = 0; i < lhs_dims.size(); ++i) {
            const int label = lhs_dims[i].first;
            const int kind = kinds[std::size_t(label)];
            const auto other = std::ranges::find(rhs_dims, label, [](auto& d) { return d.first; });
            if (kind == 0) a.lhs_batching.push_back(std::int64_t(i));
            if (kind == 0) a.rhs_batching.push_back(other - rhs_dims.begin());
            if (kind == 1) a.lhs_contracting.push_back(std::int64_t(i));
            if (kind == 1) a.rhs_contracting.push_back(other - rhs_dims.begin());
        }
        const auto count = picked_count(lhs, a.lhs_contracting);
        const Tensor y = dot_general(core_leaf(lhs), shared_leaf(rhs), a);
        ASSERT_EQ(compare_with_reference(graph_of({y}), sum_tolerance(count), seed), "");
    }
}

TEST(DotGeneral, refuses_double_precision) {
    const Tensor x = core_leaf({3, 3}, DType::f64);
    EXPECT_THROW(
        lower(graph_of({matmul(x, leaf({DType::f64, {3, 3}}, Placement::replicated, "y"))}), {}),
        Error);
}

// ---- convolution ---------------------------------------------------------------------------

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
    const Tensor x = core_leaf(c.input);
    const Tensor w = shared_leaf(c.kernel);
    const Tensor y = convolve(c, x, w);
    const Tensor dy = core_leaf(y.dims());
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

TEST_P(Convolutions, in_other_layouts_are_what_the_reference_says) {
    const ConvolutionCase& c = GetParam();
    const auto rank = std::int64_t(c.input.size());
    Dims last;    // channels last: role i is dimension last[i]
    for (std::int64_t i = 0; i < rank; ++i)
        last.push_back(i == 0 ? 0 : i == 1 ? rank - 1 : i - 1);
    Dims permutation;
    for (std::int64_t i = 0; i < rank; ++i)
        permutation.push_back(i == 0 ? 0 : i == rank - 1 ? 1 : i + 1);
    const Tensor x = core_leaf(c.input);
    const Tensor w = shared_leaf(c.kernel);
    const Tensor y = convolution(transpose(x, permutation), transpose(w, permutation),
                                 {.window = c.window,
                                  .input_layout = last,
                                  .kernel_layout = last,
                                  .output_layout = last,
                                  .feature_groups = c.feature_groups});
    const auto terms = Shape{DType::f32, c.kernel}.element_count();
    EXPECT_EQ(compare_with_reference(graph_of({y}), sum_tolerance(terms), 2), "");
}

INSTANTIATE_TEST_SUITE_P(Product, Convolutions, testing::ValuesIn(convolution_cases),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Convolution, of_a_lenet_step_runs_in_the_library_alone) {
    const Tensor x = core_leaf({4, 6, 14, 14});
    const Tensor w = shared_leaf({16, 6, 5, 5});
    const Tensor y = convolution_2d(x, w, 1, 0);
    const std::vector<Tensor> parameters{x, w};
    const auto gradient = gradients(reduce(y * y, {0, 1, 2, 3}, Reduction::add), parameters);
    const std::string steps = steps_of(graph_of({gradient[0], gradient[1]}));
    EXPECT_THAT(steps, Not(HasSubstr("loops")));
    EXPECT_THAT(steps, Not(HasSubstr("copy")));
}

TEST(Convolution, with_strided_gradients_runs_in_the_library_alone) {
    const Tensor x = core_leaf({2, 5, 10, 9});
    const Tensor w = shared_leaf({7, 5, 3, 3});
    const Tensor y = convolution_2d(x, w, 2, 1);
    const std::vector<Tensor> parameters{x, w};
    const auto gradient = gradients(reduce(y * y, {0, 1, 2, 3}, Reduction::add), parameters);
    const std::string steps = steps_of(graph_of({gradient[0], gradient[1]}));
    EXPECT_THAT(steps, Not(HasSubstr("loops")));
    EXPECT_THAT(steps, Not(HasSubstr("copy")));
}

TEST(Convolution, no_library_takes_runs_by_loops) {
    const Tensor x = core_leaf({2, 3, 5, 5});
    const Tensor w = shared_leaf({4, 3, 3, 3});
    const Tensor y = convolve(convolution_cases[std::size(convolution_cases) - 1], x, w);
    EXPECT_THAT(steps_of(graph_of({y})), HasSubstr("loops"));
    const Tensor flat = convolution(core_leaf({5, 6}), shared_leaf({7, 6}), {});
    EXPECT_EQ(compare_with_reference(graph_of({flat}), sum_tolerance(6), 3), "");
}

// Goal: whatever a convolution node may say, not only what layers and gradients say.
TEST(Convolution, is_what_the_reference_says_for_random_attributes) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        std::mt19937_64 random(seed);
        const auto upto = [&](std::int64_t most) {
            return 1 + std::int64_t(random() % std::uint64_t(most));
        };
        ConvolutionAttributes a;
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
        const Tensor x = core_leaf(shuffled(a.input_layout, input));
        Tensor w = shared_leaf(shuffled(a.kernel_layout, kernel));
        if (random() % 2 == 0) w = reverse(w, {a.kernel_layout[2], a.kernel_layout[3]});
        std::ranges::shuffle(layout, random);
        a.output_layout = layout;
        Tensor y;
        try {
            y = convolution(x, w, a);
        } catch (const Error&) {
            continue;    // the kernel does not fit into this input
        }
        ASSERT_EQ(compare_with_reference(graph_of({y}), sum_tolerance(48), seed), "") << seed;
    }
}

}    // namespace
}    // namespace slipway
