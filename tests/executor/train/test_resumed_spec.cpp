#include "executor/train/resumed_spec.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace slipway {
namespace {

using ::testing::ElementsAre;

TEST(ResumedSpec, the_same_spec_has_not_changed_after_it_was_written) {
    JobSpec spec;
    spec.train.epochs = 3;
    const nlohmann::json kept = nlohmann::json::parse(trained_spec(spec).dump());
    EXPECT_THAT(spec_changes(kept, spec), ElementsAre());
    spec.name = "other";
    spec.labels = {{"team", "b"}};
    spec.limits.max_restarts = 9;
    EXPECT_THAT(spec_changes(kept, spec), ElementsAre()) << "nothing that trains";
    EXPECT_THAT(spec_changes(nlohmann::json(), spec), ElementsAre()) << "of an older version";
}

TEST(ResumedSpec, each_field_is_named_with_both_values) {
    JobSpec spec;
    const nlohmann::json kept = trained_spec(spec);
    spec.train.seed = 7;
    spec.accelerator.cores = 8;
    EXPECT_THAT(spec_changes(kept, spec),
                ElementsAre("accelerator.cores: 1 -> 8", "train.seed: 0 -> 7"));
}

TEST(ResumedSpec, another_exchange_of_gradients_is_named) {
    JobSpec spec;
    spec.accelerator = {.cores = 16, .slice = SliceSpec{.cores = 16}};
    const nlohmann::json kept = trained_spec(spec);
    spec.accelerator.slice->gradient_exchange = GradientExchange::bf16;
    EXPECT_THAT(spec_changes(kept, spec),
                ElementsAre("accelerator.slice.gradient_exchange: null -> \"bf16\""));
    EXPECT_THAT(spec_changes(trained_spec(spec), spec), ElementsAre());
}

TEST(ResumedSpec, a_wholly_other_spec_is_cut_short) {
    nlohmann::json kept = nlohmann::json::object();
    for (int i = 0; i < 100; ++i)
        kept["data"][std::to_string(i)] = i;
    const auto changes = spec_changes(kept, JobSpec{});
    ASSERT_EQ(changes.size(), 10U);
    EXPECT_THAT(changes.back(), testing::HasSubstr("more fields"));
}

}    // namespace
}    // namespace slipway
