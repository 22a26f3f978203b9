#include "executor/train/step_bindings.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace slipway {
namespace {

Array number(float value) {
    return array_of<float>({}, std::array{value});
}

float first_number(const Value& value) {
    return value.arrays[0].as<float>()[0];
}

/// Two parameters, their weights and, as there is none, no statistic.
Bindings<StepInput> some_inputs() {
    Bindings<StepInput> inputs;
    inputs.add(StepInput::parameters, 2);
    inputs.add(StepInput::statistics, 0);
    inputs.add(StepInput::weights, 1);
    return inputs;
}

TEST(Bindings, a_name_stands_for_its_places) {
    const Bindings<StepInput> inputs = some_inputs();
    const std::vector<int> list{1, 2, 3};
    EXPECT_EQ(inputs.size(), 3U);
    EXPECT_EQ(inputs.first(StepInput::weights), 2U);
    EXPECT_EQ(inputs.of(std::span(list), StepInput::weights)[0], 3);
    EXPECT_EQ(inputs.of(std::span(list), StepInput::parameters).size(), 2U);
    EXPECT_TRUE(inputs.of(std::span(list), StepInput::statistics).empty());
    EXPECT_TRUE(inputs.of(std::span(list), StepInput::hyper).empty());
    EXPECT_EQ(inputs.count(StepInput::hyper), 0U);
    EXPECT_EQ(inputs.of(std::span(list).first(2), StepInput::parameters)[1], 2);
}

TEST(Bindings, a_name_is_bound_once_and_a_list_is_long_enough) {
    Bindings<StepInput> inputs = some_inputs();
    EXPECT_DEATH(inputs.add(StepInput::weights, 1), "bound once");
    const std::vector<int> list{1, 2};
    EXPECT_DEATH(inputs.of(std::span(list), StepInput::weights), "in its program's order");
}

TEST(StepValues, are_in_the_order_of_the_program_whatever_order_they_came_in) {
    const Bindings<StepInput> inputs = some_inputs();
    StepValues values(inputs);
    values.set(StepInput::weights, Value{{number(3)}});
    values.set(StepInput::parameters, std::array{number(1), number(2)});
    values.set(StepInput::statistics, std::span<const Array>());
    values.set(StepInput::hyper, std::span<const Array>());
    const std::vector<Value> taken = std::move(values).take();
    ASSERT_EQ(taken.size(), 3U);
    EXPECT_EQ(first_number(taken[0]), 1);
    EXPECT_EQ(first_number(taken[1]), 2);
    EXPECT_EQ(first_number(taken[2]), 3);
}

TEST(StepValues, one_too_few_or_one_for_nothing_is_a_bug) {
    const Bindings<StepInput> inputs = some_inputs();
    StepValues values(inputs);
    EXPECT_DEATH(values.set(StepInput::parameters, std::array{number(1)}), "each input of a name");
    EXPECT_DEATH(values.set(StepInput::parameters, Value{{number(1)}}), "one input");
    EXPECT_DEATH(values.set(StepInput::hyper, Value{{number(1)}}), "one input");
    values.set(StepInput::weights, Value{{number(3)}});
    EXPECT_DEATH(std::move(values).take(), "every input");
}

}    // namespace
}    // namespace slipway
