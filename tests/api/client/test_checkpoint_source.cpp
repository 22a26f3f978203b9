#include "api/client/checkpoint_source.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"

namespace slipway::client {
namespace {

TEST(CheckpointSource, is_what_the_argument_names) {
    const std::string job = new_id("job"), one = new_id("ckp"), two = new_id("ckp");
    const std::string folds = new_id("cv");
    EXPECT_EQ(checkpoint_source(job, "last"), Json({{"job", job}, {"checkpoint", "last"}}));
    EXPECT_EQ(checkpoint_source(one, "best"), Json({{"checkpoint", one}}));
    EXPECT_EQ(checkpoint_source(folds, "best"),
              Json({{"cross_validation", folds}, {"checkpoint", "best"}}));
    EXPECT_EQ(checkpoint_source(one + "," + two, "best"), Json({{"checkpoints", {one, two}}}));
}

// The service names what is wrong with them.
TEST(CheckpointSource, that_is_no_id_goes_to_the_service_as_it_is) {
    EXPECT_EQ(checkpoint_source("digits", "best"),
              Json({{"job", "digits"}, {"checkpoint", "best"}}));
    EXPECT_EQ(checkpoint_source("a,,b", "best"), Json({{"checkpoints", {"a", "", "b"}}}));
}

}    // namespace
}    // namespace slipway::client
