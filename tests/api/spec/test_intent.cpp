#include "api/spec/intent.h"

#include <gtest/gtest.h>

#include <vector>

namespace slipway {
namespace {

using enum Intent;

constexpr std::array all{cancel, kill, pause, preempt, timeout};

TEST(Intent, each_has_its_row_and_leads_where_the_state_machine_goes) {
    for (const Intent intent : all) {
        const IntentMeaning& meaning = meaning_of(intent);
        EXPECT_EQ(meaning.intent, intent);
        if (!meaning.asked) continue;
        EXPECT_TRUE(allowed(JobState::running, *meaning.asked)) << to_string(intent);
        EXPECT_TRUE(is_active(*meaning.asked)) << to_string(intent);
        if (meaning.rest) {
            EXPECT_TRUE(allowed(*meaning.asked, *meaning.rest)) << to_string(intent);
            EXPECT_TRUE(allowed(JobState::queued, *meaning.rest)) << to_string(intent);
        }
    }
}

TEST(Intent, only_a_kill_does_not_save) {
    for (const Intent intent : all)
        EXPECT_EQ(meaning_of(intent).saves, intent != kill) << to_string(intent);
}

TEST(Intent, a_state_without_a_request_has_none) {
    EXPECT_EQ(default_intent(JobState::cancelling), cancel);
    EXPECT_EQ(default_intent(JobState::pausing), pause);
    EXPECT_EQ(default_intent(JobState::preempting), preempt);
    EXPECT_EQ(default_intent(JobState::running), std::nullopt);
    EXPECT_EQ(default_intent(JobState::cancelled), std::nullopt);
}

// A pair is sharper in one direction at most, and a kill is never taken back.
TEST(Intent, a_request_becomes_sharper_only) {
    for (const Intent one : all) {
        EXPECT_FALSE(is_sharper(one, one));
        EXPECT_FALSE(is_sharper(one, kill));
        EXPECT_EQ(is_sharper(kill, one), one != kill);
    }
    EXPECT_TRUE(is_sharper(cancel, pause) && is_sharper(timeout, preempt));
    EXPECT_FALSE(is_sharper(pause, cancel) || is_sharper(cancel, timeout));
}

}    // namespace
}    // namespace slipway
