#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/nn/convolution.h"
#include "executor/nn/linear.h"
#include "executor/reference/evaluate.h"
#include "executor/tensor/random.h"

namespace slipway {
namespace {

ReferenceValue run(const ParameterList& parameters, const Tensor& input, const Array& value,
                   const Tensor& output) {
    Graph graph{.inputs = parameters.inputs(), .outputs = {output}, .donations = {}};
    graph.inputs.push_back(input);
    std::vector<ReferenceValue> values;
    for (const Parameter& parameter : parameters.all())
        values.push_back({parameter.value});
    values.push_back({value});
    return evaluate(graph, values, 1)[0];
}

TEST(Linear, is_x_times_weight_transposed_plus_bias) {
    ParameterList parameters;
    Init init(1);
    const Linear layer = Linear::create(parameters, init, "fc", 2, 3);
    std::ranges::copy(std::array<float, 6>{1, 2, 3, 4, 5, 6},
                      parameters.all()[0].value.as<float>().begin());
    std::ranges::copy(std::array<float, 3>{10, 20, 30},
                      parameters.all()[1].value.as<float>().begin());
    const Tensor x = input({DType::f32, {1, 2}}, Placement::replicated, "x");
    const auto y =
        run(parameters, x, array_of<float>({1, 2}, std::array<float, 2>{1, -1}), layer(x));
    EXPECT_EQ(y[0].shape().dims, (Dims{1, 3}));
    EXPECT_EQ(std::vector<float>(y[0].as<float>().begin(), y[0].as<float>().end()),
              (std::vector<float>{9, 19, 29}));
}

TEST(Convolution, keeps_the_extent_with_padding_and_adds_its_bias_per_channel) {
    ParameterList parameters;
    Init init(1);
    const auto layer = Convolution::create(
        parameters, init, "conv", {.in_channels = 1, .out_channels = 2, .size = 3, .padding = 1});
    std::ranges::fill(parameters.all()[0].value.as<float>(), 1.0F);
    std::ranges::copy(std::array<float, 2>{0, 100}, parameters.all()[1].value.as<float>().begin());
    const Tensor x = input({DType::f32, {1, 1, 3, 3}}, Placement::replicated, "x");
    Array ones(x.shape());
    std::ranges::fill(ones.as<float>(), 1.0F);
    const auto y = run(parameters, x, ones, layer(x));
    EXPECT_EQ(y[0].shape().dims, (Dims{1, 2, 3, 3}));
    EXPECT_EQ(y[0].as<float>()[0], 4.0F);       // a corner sees four ones
    EXPECT_EQ(y[0].as<float>()[4], 9.0F);       // the middle sees nine
    EXPECT_EQ(y[0].as<float>()[13], 109.0F);    // the second channel's middle
}

TEST(Init, values_are_those_of_one_stream_whatever_the_number_of_threads) {
    constexpr std::uint64_t seed = 11;
    const std::int64_t count = (3 << 16) + 5;
    RandomStream uniform(seed, site_init, 0), normal(seed, site_init, 1);
    std::vector<float> uniforms, normals;
    for (std::int64_t i = 0; i < count; ++i) {
        uniforms.push_back(float((2.0 * double(uniform.next_uniform()) - 1.0) * 0.25));
        normals.push_back(float(double(normal.next_normal()) * 0.5));
    }
    for (const int threads : {1, 2, 5}) {
        Init init(seed, threads);
        EXPECT_TRUE(std::ranges::equal(init.uniform({count}, 0.25).as<float>(), uniforms));
        EXPECT_TRUE(std::ranges::equal(init.normal({count}, 0.5).as<float>(), normals));
        EXPECT_EQ(init.normal({0}, 1).byte_count(), 0);
    }
}

TEST(Init, values_that_are_drawn_again_do_not_depend_on_the_number_of_threads_either) {
    Init one(11), five(11, 5);
    const std::int64_t count = (3 << 16) + 5;
    EXPECT_TRUE(std::ranges::equal(one.truncated_normal({count}, 0.5).as<float>(),
                                   five.truncated_normal({count}, 0.5).as<float>()));
}

TEST(Init, values_stay_below_the_bound_and_are_spread_over_it) {
    Init init(3);
    const Array array = init.fan_in_uniform({100, 25}, 25);
    const auto values = array.as<float>();
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GE(least, -0.2F);
    EXPECT_LE(most, 0.2F);
    EXPECT_LT(least, -0.19F);
    EXPECT_GT(most, 0.19F);
}

TEST(Init, the_size_of_one_layer_does_not_change_the_next) {
    Init small(5), large(5);
    (void)small.uniform({3}, 1);
    (void)large.uniform({300}, 1);
    EXPECT_EQ(small.uniform({4}, 1).as<float>()[3], large.uniform({4}, 1).as<float>()[3]);
}

}    // namespace
}    // namespace slipway
