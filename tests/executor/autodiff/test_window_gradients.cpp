#include <gtest/gtest.h>

#include "executor/graph/ops.h"
#include "tests/support/gradcheck.h"

// Goal: the gradients of products, convolutions and windows are their derivatives, whatever the
// layouts, strides, dilations, paddings and groups.
// Method: central differences in f64 on random configurations.
namespace slipway {
namespace {

std::int64_t between(RandomStream& random, std::int64_t low, std::int64_t high) {
    return low + std::int64_t(random.next_below(std::uint64_t(high - low + 1)));
}

Dims shuffled(RandomStream& random, std::int64_t rank) {
    Dims permutation;
    for (std::int64_t i = 0; i < rank; ++i) {
        permutation.push_back(i);
        std::swap(permutation.back(), permutation[random.next_below(std::uint64_t(i) + 1)]);
    }
    return permutation;
}

/// Extents by role -> dims, where layout[role] is the dimension.
Dims laid_out(const Dims& by_role, const Dims& layout) {
    Dims dims(by_role.size());
    for (std::size_t role = 0; role < by_role.size(); ++role)
        dims[std::size_t(layout[role])] = by_role[role];
    return dims;
}

Dims part(const Dims& list, std::size_t begin, std::size_t end) {
    return {list.begin() + std::ptrdiff_t(begin), list.begin() + std::ptrdiff_t(end)};
}

class RandomRounds : public testing::TestWithParam<int> {
protected:
    RandomStream random_{test_seed(), 0, std::uint64_t(GetParam())};
    testing::ScopedTrace trace_{__FILE__, __LINE__,
                                fmt::format("SLIPWAY_TEST_SEED={}", test_seed())};
};

// Any number of batching, contracting and free dimensions, each at any place.
TEST_P(RandomRounds, dot_general) {
    const auto batch_count = std::size_t(random_.next_below(3));
    const auto contracted_count = std::size_t(random_.next_below(3));
    Dims shared;
    for (std::size_t i = 0; i < batch_count + contracted_count; ++i)
        shared.push_back(between(random_, 1, 3));
    DotAttributes attributes;
    const auto side = [&](Dims& batching, Dims& contracting) {
        Dims by_role = shared;
        for (std::uint64_t free = random_.next_below(3); free > 0; --free)
            by_role.push_back(between(random_, 1, 2));
        const Dims layout = shuffled(random_, std::int64_t(by_role.size()));
        batching = part(layout, 0, batch_count);
        contracting = part(layout, batch_count, batch_count + contracted_count);
        return random_values(random_, laid_out(by_role, layout), -2, 2);
    };
    const Array lhs = side(attributes.lhs_batching, attributes.lhs_contracting);
    const Array rhs = side(attributes.rhs_batching, attributes.rhs_contracting);
    expect_gradients_match(
        [&](const std::vector<Tensor>& x) { return dot_general(x[0], x[1], attributes); },
        {lhs, rhs}, random_);
}

WindowDimension random_window(RandomStream& random, std::int64_t size) {
    return {.size = size,
            .stride = between(random, 1, 3),
            .padding_low = between(random, -1, 3),
            .padding_high = between(random, -1, 3),
            .base_dilation = between(random, 1, 2),
            .window_dilation = between(random, 1, 2)};
}

/// An extent over which the window fits at least once.
std::int64_t extent_for(RandomStream& random, const WindowDimension& window) {
    const std::int64_t reach = (window.size - 1) * window.window_dilation + 1;
    const std::int64_t needed = std::max<std::int64_t>(
        1, reach - window.padding_low - window.padding_high + window.base_dilation - 1);
    return needed + between(random, 0, 2);
}

TEST_P(RandomRounds, convolution) {
    const std::int64_t spatial_count = between(random_, 0, 2);
    const std::int64_t groups = GetParam() % 3 == 0 ? 2 : 1;
    ConvolutionAttributes attributes{.window = {},
                                     .input_layout = shuffled(random_, spatial_count + 2),
                                     .kernel_layout = shuffled(random_, spatial_count + 2),
                                     .output_layout = shuffled(random_, spatial_count + 2),
                                     .feature_groups = groups,
                                     .batch_groups = 1};
    const std::int64_t features = between(random_, 1, 2);
    Dims input{between(random_, 1, 2), features * groups};
    Dims kernel{between(random_, 1, 2) * groups, features};
    for (std::int64_t i = 0; i < spatial_count; ++i) {
        attributes.window.push_back(random_window(random_, between(random_, 1, 3)));
        kernel.push_back(attributes.window.back().size);
        input.push_back(extent_for(random_, attributes.window.back()));
    }
    expect_gradients_match(
        [&](const std::vector<Tensor>& x) { return convolution(x[0], x[1], attributes); },
        {random_values(random_, laid_out(input, attributes.input_layout), -2, 2),
         random_values(random_, laid_out(kernel, attributes.kernel_layout), -2, 2)},
        random_);
}

TEST_P(RandomRounds, sum_of_windows) {
    std::vector<WindowDimension> window;
    Dims dims;
    for (std::int64_t rank = between(random_, 1, 2); rank > 0; --rank) {
        window.push_back(random_window(random_, between(random_, 1, 3)));
        dims.push_back(extent_for(random_, window.back()));
    }
    expect_gradients_match(
        [&](const std::vector<Tensor>& x) { return reduce_window(x[0], window, Reduction::add); },
        {random_values(random_, dims, -2, 2)}, random_);
}

TEST_P(RandomRounds, maximum_of_windows) {
    std::vector<WindowDimension> window;
    Dims dims;
    for (int i = 0; i < 2; ++i) {
        // Padding stays below the size: a window over nothing would give infinity.
        const std::int64_t size = between(random_, 1, 3);
        window.push_back({.size = size,
                          .stride = between(random_, 1, 3),
                          .padding_low = between(random_, 0, size - 1),
                          .padding_high = between(random_, 0, size - 1)});
        dims.push_back(size + between(random_, 0, 3));
    }
    expect_gradients_match(
        [&](const std::vector<Tensor>& x) {
            return reduce_window(x[0], window, Reduction::maximum);
        },
        {distinct_values(random_, dims)}, random_);
}

INSTANTIATE_TEST_SUITE_P(Windows, RandomRounds, testing::Range(0, 24));

// A gradient is a convolution too, and so has one: a gradient of a gradient.
TEST(SecondDerivatives, of_a_convolution) {
    RandomStream random(test_seed(), 0, 100);
    const WindowDimension window{.size = 2, .stride = 2, .padding_low = 1};
    const auto slope = [&](const std::vector<Tensor>& x) {
        const Tensor y = convolution(x[0], x[1], {{window}, {}, {}, {}});
        const Tensor loss = reduce(y * y * y, {0, 1, 2}, Reduction::add);
        return concatenate(
            {reshape(gradients(loss, x)[0], {8}), reshape(gradients(loss, x)[1], {4})}, 0);
    };
    expect_gradients_match(
        slope, {random_values(random, {1, 2, 4}, -1, 1), random_values(random, {1, 2, 2}, -1, 1)},
        random);
}

TEST(PoolGradients, first_of_equals_takes_all) {
    const Tensor x = input({DType::f32, {1, 1, 2, 2}}, Placement::replicated, "x");
    const Tensor loss = reshape(max_pool_2d(x, 2, 2), {});
    const Graph graph{{x}, gradients(loss, {{x}}), {}};
    Array values(x.shape());
    std::ranges::fill(values.as<float>(), 3.0F);
    const Array dx = evaluate(graph, {{{values}}}, 1)[0][0];
    EXPECT_EQ(dx.as<float>()[0], 1.0F);
    for (const std::size_t i : {1u, 2u, 3u})
        EXPECT_EQ(dx.as<float>()[i], 0.0F);
}

// The engine knows the two gradients of a convolution by these attributes.
TEST(ConvolutionGradients, are_convolutions_in_swapped_layouts) {
    const Tensor x = input({DType::f32, {8, 3, 28, 28}}, Placement::per_core, "x");
    const Tensor kernel = input({DType::f32, {6, 3, 5, 5}}, Placement::replicated, "kernel");
    const Tensor y = convolution_2d(x, kernel, 2, 2);
    const Tensor loss = reduce(y, {0, 1, 2, 3}, Reduction::add);
    const std::vector<Tensor> found = gradients(loss, {{x, kernel}});

    ASSERT_EQ(found[0].node().op, OpCode::convolution);
    const auto& for_input = std::get<ConvolutionAttributes>(found[0].node().attributes);
    EXPECT_EQ(for_input.input_layout, (Dims{0, 1, 2, 3}));
    EXPECT_EQ(for_input.kernel_layout, (Dims{1, 0, 2, 3}));
    EXPECT_EQ(for_input.output_layout, (Dims{0, 1, 2, 3}));
    EXPECT_EQ(for_input.window[0].base_dilation, 2);
    EXPECT_EQ(found[0].node().operands[1].node().op, OpCode::reverse);
    EXPECT_EQ(found[0].node().operands[1].node().operands[0], kernel);

    ASSERT_EQ(found[1].node().op, OpCode::convolution);
    const auto& for_kernel = std::get<ConvolutionAttributes>(found[1].node().attributes);
    EXPECT_EQ(for_kernel.input_layout, (Dims{1, 0, 2, 3}));
    EXPECT_EQ(for_kernel.kernel_layout, (Dims{1, 0, 2, 3}));
    EXPECT_EQ(for_kernel.output_layout, (Dims{1, 0, 2, 3}));
    EXPECT_EQ(for_kernel.window[0].window_dilation, 2);
    EXPECT_EQ(found[1].node().operands[0], x);
    EXPECT_EQ(found[1].dims(), kernel.dims());
}

}    // namespace
}    // namespace slipway
