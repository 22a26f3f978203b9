#include "executor/optim/hyper.h"

#include <gtest/gtest.h>

#include <cmath>

namespace slipway {
namespace {

TEST(Hyper, derived_numbers_follow_adams_bias_correction) {
    Array values = hyper_values(
        {.lr = 0.01, .beta1 = 0.9, .beta2 = 0.99, .eps = 1e-8, .step = 2, .label_count = 4});
    const auto at = [&](HyperSlot slot) { return values.as<float>()[std::size_t(slot)]; };
    EXPECT_FLOAT_EQ(at(HyperSlot::step_size), float(0.01 / 0.19));
    EXPECT_FLOAT_EQ(at(HyperSlot::inverse_sqrt_bias2), float(1 / std::sqrt(1 - 0.99 * 0.99)));
    EXPECT_FLOAT_EQ(at(HyperSlot::inverse_label_count), 0.25F);
    EXPECT_FLOAT_EQ(at(HyperSlot::one_minus_beta1), 0.1F);
}

TEST(Hyper, a_step_without_labels_has_no_gradient) {
    const Array values = hyper_values({.lr = 0.01, .label_count = 0});
    EXPECT_EQ(values.as<float>()[std::size_t(HyperSlot::inverse_label_count)], 0.0F);
}

TEST(Hyper, a_group_has_a_learning_rate_of_its_own_and_what_follows_from_it) {
    const Hyper hyper{.lr = 0.01, .weight_decay = 0.1, .beta1 = 0.9, .lr_scales = {1, 10}};
    Array array = hyper_values(hyper);
    const std::span<const float> values = array.as<float>();
    ASSERT_EQ(HyperInput(3).input().shape(), array.shape());
    const std::size_t last = values.size() - 3;
    EXPECT_FLOAT_EQ(values[std::size_t(HyperSlot::lr)], 0.01F);
    EXPECT_FLOAT_EQ(values[last - 3], 0.01F);
    EXPECT_FLOAT_EQ(values[last], 0.1F);
    EXPECT_FLOAT_EQ(values[last + 1], 0.99F);    // decay_factor
    EXPECT_FLOAT_EQ(values[last + 2], 1.0F);     // step_size: over 1 - 0.9
    const HyperInput input(3);
    EXPECT_FALSE(input.scalar(HyperSlot::lr, 2).node().hash ==
                 input.scalar(HyperSlot::lr, 1).node().hash);
    EXPECT_TRUE(input.scalar(HyperSlot::eps, 2).node().hash ==
                input.scalar(HyperSlot::eps).node().hash);
}

// Goal: a sweep shares one program. Method: the graph's hash does not know the numbers, only their
// slots.
TEST(Hyper, equal_numbers_keep_slots_of_their_own) {
    const HyperInput hyper;
    EXPECT_FALSE(hyper.scalar(HyperSlot::lr).node().hash ==
                 hyper.scalar(HyperSlot::momentum).node().hash);
    EXPECT_TRUE(hyper.scalar(HyperSlot::lr).node().hash ==
                HyperInput().scalar(HyperSlot::lr).node().hash);
}

}    // namespace
}    // namespace slipway
