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

// Goal: a sweep shares one program. Method: the graph's hash does not know the numbers, only their
// slots.
TEST(Hyper, equal_numbers_keep_slots_of_their_own) {
    const HyperLeaf hyper;
    EXPECT_FALSE(hyper.scalar(HyperSlot::lr).node().hash ==
                 hyper.scalar(HyperSlot::momentum).node().hash);
    EXPECT_TRUE(hyper.scalar(HyperSlot::lr).node().hash ==
                HyperLeaf().scalar(HyperSlot::lr).node().hash);
}

}    // namespace
}    // namespace slipway
