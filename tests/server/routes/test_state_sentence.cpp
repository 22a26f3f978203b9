// Goal: messages say a state as a sentence. Method: one state of each form.
#include "server/routes/state_sentence.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(StateSentence, ends_have_verbs_of_their_own) {
    EXPECT_EQ(state_sentence("the job", "running"), "the job is running");
    EXPECT_EQ(state_sentence("the job", "succeeded"), "the job has succeeded");
    EXPECT_EQ(state_sentence("the job", "cancelled"), "the job was cancelled");
    EXPECT_EQ(illegal_transition_sentence("the job", "failed", "paused"),
              "the job has failed and cannot become paused");
}

}    // namespace
}    // namespace slipway
