#include "scheduler/agent/slice_end.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using std::chrono::seconds;

store::AttemptEnd ended_as(const std::string& kind, JobState state, const std::string& code = "") {
    store::AttemptEnd end{.exit_kind = kind, .message = kind, .job_state = state};
    if (!code.empty()) end.reason = store::Reason{.code = code, .message = code};
    return end;
}

const store::AttemptEnd succeeded_end = ended_as("succeeded", JobState::succeeded);
const store::AttemptEnd crashed_end = ended_as("crashed", JobState::queued);
const store::AttemptEnd failed_end = ended_as("failed", JobState::failed, "data_error");
const store::AttemptEnd refused_end = ended_as("wrong_build", JobState::queued, "wrong_build");
const store::AttemptEnd lost_end = ended_as("failed", JobState::queued, "member_lost");
const store::AttemptEnd stopped_end = ended_as("member_lost", JobState::queued, "member_lost");
const store::AttemptEnd cancelled_end = ended_as("cancelled", JobState::cancelled);

/// Members by rank, and when each has ended.
std::vector<store::AttemptMember> members(
    const std::vector<std::pair<store::AttemptEnd, int>>& ends) {
    std::vector<store::AttemptMember> all;
    for (const auto& [end, at_s] : ends) {
        store::AttemptMember member;
        member.rank = int(all.size());
        member.host = "host-" + std::to_string(member.rank);
        member.end = end;
        member.ended_at = Instant{} + seconds{at_s};
        all.push_back(member);
    }
    return all;
}

std::string message_of(const std::vector<std::pair<store::AttemptEnd, int>>& ends) {
    return decide_slice_end(members(ends)).message;
}

TEST(SliceEnd, rank_0_that_did_what_was_asked_decides) {
    EXPECT_EQ(message_of({{succeeded_end, 5}, {crashed_end, 1}}), "succeeded");
    EXPECT_EQ(message_of({{cancelled_end, 5}, {stopped_end, 1}}), "cancelled");
}

TEST(SliceEnd, the_root_cause_is_the_first_member_that_failed_by_itself) {
    EXPECT_EQ(message_of({{lost_end, 1}, {crashed_end, 2}}), "rank 1 on host host-1: crashed");
    EXPECT_EQ(message_of({{stopped_end, 1}, {lost_end, 2}, {crashed_end, 9}}),
              "rank 2 on host host-2: crashed");
    EXPECT_EQ(message_of({{crashed_end, 3}, {failed_end, 2}}), "rank 1 on host host-1: failed");
    EXPECT_EQ(message_of({{crashed_end, 2}, {failed_end, 2}}), "rank 0 on host host-0: crashed");
    EXPECT_EQ(message_of({{stopped_end, 1}, {refused_end, 2}}),
              "rank 1 on host host-1: wrong_build");
    EXPECT_EQ(message_of({{lost_end, 2}, {stopped_end, 1}}), "rank 1 on host host-1: member_lost");
    EXPECT_EQ(message_of({{lost_end, 2}, {succeeded_end, 1}}), "rank 0 on host host-0: failed");
}

TEST(SliceEnd, the_reason_and_where_the_job_goes_are_those_of_the_cause) {
    const auto end = decide_slice_end(members({{lost_end, 1}, {failed_end, 2}}));
    EXPECT_EQ(end.job_state, JobState::failed);
    EXPECT_EQ(end.reason->code, "data_error");
    EXPECT_EQ(end.reason->message, "rank 1 on host host-1: data_error");
}

}    // namespace
}    // namespace slipway
