#include <gtest/gtest.h>

#include <set>

#include "api/spec/event.h"
#include "api/spec/job_state.h"

namespace slipway {
namespace {

std::vector<JobState> every_state() {
    std::vector<JobState> states;
    for (const std::string_view word : all_words<JobState>()) {
        states.push_back(*parse_word<JobState>(word));
    }
    return states;
}

// Goal: no path leads out of a final state, and every other state has a way to an end.
// Method: all pairs; the table is small enough to be exhaustive.
TEST(JobStates, final_states_are_final_and_the_others_are_not) {
    const std::set<JobState> ends{JobState::succeeded, JobState::failed,    JobState::cancelled,
                                  JobState::stopped,   JobState::timed_out, JobState::expired};
    for (const JobState state : every_state()) {
        EXPECT_EQ(is_final(state), ends.contains(state)) << to_string(state);
        for (const JobState to : every_state()) {
            EXPECT_FALSE(is_final(state) && allowed(state, to)) << to_string(state);
        }
        EXPECT_FALSE(allowed(state, state)) << to_string(state);
    }
}

TEST(JobStates, every_state_is_reached_from_queued) {
    std::set<JobState> reached{JobState::queued};
    for (std::size_t round = 0; round < every_state().size(); ++round) {
        for (const Transition& row : transitions()) {
            if (reached.contains(row.from)) reached.insert(row.to);
        }
    }
    EXPECT_EQ(reached.size(), every_state().size());
}

TEST(JobStates, every_active_state_can_fail_or_be_cancelled) {
    for (const JobState state : every_state()) {
        if (!is_active(state)) continue;
        EXPECT_TRUE(allowed(state, JobState::failed)) << to_string(state);
        EXPECT_TRUE(state == JobState::cancelling || allowed(state, JobState::cancelling))
            << to_string(state);
    }
}

TEST(JobStates, no_move_is_listed_twice) {
    std::set<std::pair<JobState, JobState>> seen;
    for (const Transition& row : transitions()) {
        EXPECT_TRUE(seen.insert({row.from, row.to}).second)
            << to_string(row.from) << " -> " << to_string(row.to);
        EXPECT_FALSE(row.cause.empty());
    }
}

TEST(JobStates, words_and_enumerators_match) {
    EXPECT_EQ(to_string(JobState::queued), "queued");
    EXPECT_EQ(to_string(JobState::succeeded), "succeeded");
    EXPECT_EQ(to_string(JobState::expired), "expired");
    EXPECT_EQ(parse_word<JobState>("timed_out"), JobState::timed_out);
    EXPECT_EQ(parse_word<JobState>("Queued"), std::nullopt);
    EXPECT_EQ(parse_word<JobState>(""), std::nullopt);
    EXPECT_EQ(to_string(EventType::end), "end");
}

}    // namespace
}    // namespace slipway
