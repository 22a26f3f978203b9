#include "scheduler/store/settlement.h"

#include <gtest/gtest.h>

#include <array>

namespace slipway::store {
namespace {

using enum JobState;

constexpr std::array active{starting,   compiling, running,   finishing,
                            preempting, pausing,   cancelling};
constexpr std::array ends{queued, paused, succeeded, failed, cancelled, timed_out};

EndingJob job_in(JobState state) {
    return {.state = state, .restarts_max = 3, .reason = Reason{"user", "enough"}};
}

// Goal: whatever an agent says of an attempt, the job moves by the table, whatever a user and the
// leader have asked for meanwhile. Method: every state with every end.
TEST(Settlement, every_end_is_a_path_of_the_table_of_moves) {
    for (const JobState state : active)
        for (const JobState end : ends) {
            const Settlement settlement = settle(job_in(state), {.job_state = end});
            std::vector<JobState> path = states_between(state, settlement.state);
            path.push_back(settlement.state);
            for (JobState from = state; const JobState to : path) {
                EXPECT_TRUE(allowed(from, to))
                    << to_string(state) << ", ended as " << to_string(end) << ", goes from "
                    << to_string(from) << " to " << to_string(to);
                from = to;
            }
        }
}

TEST(Settlement, a_cause_that_does_not_pass_ends_the_job_the_third_time_with_its_code) {
    AttemptEnd full{.message = "full",
                    .job_state = queued,
                    .counts_as_restart = false,
                    .retry_after = std::chrono::seconds{120},
                    .reason = Reason{"disk_full", "the disk is full"},
                    .crash_key = "disk_full"};
    EndingJob job = job_in(running);
    job.restarts = job.restarts_max;
    for (int times = 1; times < 3; ++times) {
        const Settlement again = settle(job, full);
        EXPECT_EQ(again.state, queued);
        EXPECT_EQ(again.restarts_added, 0);
        EXPECT_EQ(again.retry_after, full.retry_after);
        EXPECT_EQ(again.reason->code, "disk_full");
        EXPECT_EQ(again.crashes, times);
        job.crash_key = full.crash_key;
        job.crashes = again.crashes;
    }
    const Settlement last = settle(job, full);
    EXPECT_EQ(last.state, failed);
    EXPECT_EQ(last.reason->code, "disk_full");
    EXPECT_EQ(last.reason->message, "3 times in a row: the disk is full");
    job.state = cancelling;
    EXPECT_EQ(settle(job, full).state, cancelled);
}

TEST(Settlement, a_cause_that_needs_time_is_tried_later_each_time_and_never_ends_the_job) {
    using std::chrono::seconds;
    const AttemptEnd refused{.message = "refused",
                             .job_state = queued,
                             .counts_as_restart = false,
                             .retry_after = seconds{10},
                             .retry_after_max = seconds{300},
                             .reason = Reason{"wrong_build", "an unknown field"},
                             .crash_key = "wrong_build",
                             .repeats_max = 0};
    EndingJob job = job_in(running);
    Settlement last;
    for (const int waits_s : {10, 20, 40, 80, 160, 300, 300}) {
        last = settle(job, refused);
        EXPECT_EQ(last.state, queued);
        EXPECT_EQ(last.retry_after, seconds{waits_s});
        job.crash_key = refused.crash_key;
        job.crashes = last.crashes;
    }
    EXPECT_EQ(last.reason->message, "7 times in a row: an unknown field");
    job.crashes = 100'000;
    EXPECT_EQ(settle(job, refused).retry_after, seconds{300});
    AttemptEnd limited = refused;
    limited.repeats_max = 8;
    job.crashes = 6;
    EXPECT_EQ(settle(job, limited).state, queued);
    job.crashes = 7;
    last = settle(job, limited);
    EXPECT_EQ(last.state, failed);
    EXPECT_EQ(last.reason->code, "wrong_build");
    EXPECT_EQ(last.reason->message, "8 times in a row: an unknown field");
    job.crash_key = "another";
    EXPECT_EQ(settle(job, limited).retry_after, seconds{10}) << "it begins again";
}

TEST(Settlement, who_is_to_run_again_goes_where_it_was_sent) {
    struct Row {
        JobState state, goes_to;
    };
    for (const Row& row : {Row{running, queued}, Row{finishing, queued}, Row{preempting, queued},
                           Row{pausing, paused}, Row{cancelling, cancelled}}) {
        const Settlement settlement = settle(job_in(row.state), {.job_state = queued});
        EXPECT_EQ(settlement.state, row.goes_to) << to_string(row.state);
        EXPECT_EQ(settlement.restarts_added, row.goes_to == queued && row.state != preempting)
            << to_string(row.state);
    }
}

TEST(Settlement, a_pause_that_something_else_has_overtaken_is_none) {
    EXPECT_EQ(settle(job_in(cancelling), {.job_state = paused}).state, cancelled);
    EXPECT_EQ(settle(job_in(preempting), {.job_state = paused}).state, queued);
    EXPECT_EQ(settle(job_in(finishing), {.job_state = paused}).state, queued);
    EXPECT_EQ(settle(job_in(pausing), {.job_state = paused}).reason->message, "enough");
}

}    // namespace
}    // namespace slipway::store
