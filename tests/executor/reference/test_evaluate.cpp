#include "executor/reference/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/graph/ops.h"

namespace slipway {
namespace {

using testing::ElementsAre;

Array vector_of(std::vector<float> values) {
    return array_of<float>({std::int64_t(values.size())}, values);
}

Tensor input(Placement placement, Dims dims = {2}) {
    return input({DType::f32, std::move(dims)}, placement, "x");
}

TEST(Evaluate, replicated_value_is_calculated_once) {
    const Tensor x = input(Placement::replicated);
    const auto outputs = evaluate({{x}, {x + x}, {}}, {{{vector_of({1, 2})}}}, 8);
    ASSERT_EQ(outputs[0].size(), 1u);
    EXPECT_THAT(outputs[0][0].as<float>(), ElementsAre(2, 4));
}

TEST(Evaluate, each_core_has_its_own_value) {
    const Tensor weight = input(Placement::replicated);
    const Tensor x = input(Placement::per_core);
    const Graph graph{{weight, x}, {weight * x, all_reduce(weight * x)}, {}};
    const std::vector<ReferenceValue> inputs{{vector_of({2, 3})},
                                             {vector_of({1, 2}), vector_of({10, 20})}};
    const auto outputs = evaluate(graph, inputs, 2);
    ASSERT_EQ(outputs[0].size(), 2u);
    EXPECT_THAT(outputs[0][0].as<float>(), ElementsAre(2, 6));
    EXPECT_THAT(outputs[0][1].as<float>(), ElementsAre(20, 60));
    ASSERT_EQ(outputs[1].size(), 1u);
    EXPECT_THAT(outputs[1][0].as<float>(), ElementsAre(22, 66));
}

// The bits tell the order: 2^24 + 1 rounds back to 2^24, but 2^24 + (1 + 1) does not.
TEST(Evaluate, all_reduce_sums_by_the_fixed_tree) {
    const Tensor x = input(Placement::per_core, {1});
    const Graph graph{{x}, {all_reduce(x)}, {}};
    const float big = 0x1p24F;
    const auto sum = [&](const std::vector<float>& values) {
        ReferenceValue input_value;
        for (const float value : values)
            input_value.push_back(vector_of({value}));
        return evaluate(graph, {{input_value}}, int(values.size()))[0][0].as<float>()[0];
    };
    EXPECT_EQ(sum({big, 0, 1, 1, 0, 0, 0, 0}), big + 2);
    EXPECT_EQ(sum({big, 1, 0, 1, 0, 0, 0, 0}), big);
    EXPECT_EQ(sum({big, 0, 0, 0, 1, 0, 0, 1}), big + 2);
    EXPECT_EQ(sum({0, 0, 1, 1, big, 0, 0, 0}), big + 2);
    EXPECT_EQ(sum({big}), big);
}

TEST(Evaluate, input_can_be_an_output) {
    const Tensor x = input(Placement::replicated);
    const auto outputs = evaluate({{x}, {x, x}, {}}, {{{vector_of({1, 2})}}}, 1);
    EXPECT_THAT(outputs[1][0].as<float>(), ElementsAre(1, 2));
}

TEST(Evaluate, inputs_are_left_as_they_are) {
    const Tensor x = input(Placement::replicated);
    const Array value = vector_of({1, 2});
    evaluate({{x}, {reshape(x, {2, 1}) * constant(3), negate(x)}, {}}, {{{value}}}, 1);
    EXPECT_THAT(value.as<float>(), ElementsAre(1, 2));
}

TEST(Evaluate, inputs_that_do_not_fit_are_refused) {
    const Tensor x = input(Placement::replicated);
    const Tensor local = input(Placement::per_core);
    const Graph graph{{x, local}, {x}, {}};
    const Array good = vector_of({1, 2});
    const std::vector<std::vector<ReferenceValue>> refused{
        {},
        {{good}},
        {{good}, {good}},
        {{good, good}, {good, good}},
        {{good}, {good, vector_of({1})}},
        {{Array()}, {good, good}},
        {{Array(Shape{DType::f64, {2}})}, {good, good}},
    };
    for (const auto& inputs : refused)
        EXPECT_THROW(evaluate(graph, inputs, 2), Error);
    EXPECT_NO_THROW(evaluate(graph, std::vector<ReferenceValue>{{good}, {good, good}}, 2));
}

}    // namespace
}    // namespace slipway
