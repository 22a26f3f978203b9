#include "scheduler/agent/attempt_end.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <vector>

#include "api/protocol/exit_codes.h"

namespace slipway {
namespace {

using enum JobState;

DoneFrame said(AttemptOutcome outcome, const std::string& code = {}) {
    return {.outcome = outcome, .code = code, .message = "m"};
}

EndFacts facts(JobState state) {
    EndFacts result;
    result.job_state = state;
    return result;
}

TEST(DecideEnd, one_whose_executor_never_heard_of_it_runs_again_at_once_and_uncounted) {
    EndFacts known = facts(running);
    known.exit_status = 137;
    known.unheard = true;
    known.restarts = 2;
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_EQ(end.retry_after, std::chrono::milliseconds(0));
    EXPECT_EQ(end.exit_kind, "not_started");
    EXPECT_EQ(end.crash_key, "");
    known.job_state = pausing;
    EXPECT_EQ(decide_end(known).job_state, paused);
    known.cause = EndCause::cancel;
    EXPECT_EQ(decide_end(known).job_state, cancelled);
}

TEST(DecideEnd, one_whose_order_is_of_another_build_waits_for_the_same_one) {
    EndFacts known = facts(running);
    known.done = said(AttemptOutcome::failed, "wrong_build");
    known.restarts = 7;
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_GT(end.retry_after, std::chrono::milliseconds(0));
    EXPECT_GT(end.retry_after_max, std::chrono::minutes(1));
    EXPECT_EQ(end.exit_kind, "wrong_build");
    EXPECT_EQ(end.reason->code, "wrong_build");
    EXPECT_EQ(end.crash_key, "wrong_build");
    EXPECT_EQ(end.repeats_max, 0) << "as often as that takes";
    EXPECT_EQ(end.reason->message, "m");
    known.job_state = pausing;
    EXPECT_EQ(decide_end(known).job_state, paused);
}

TEST(DecideEnd, an_executor_that_cannot_read_what_its_agent_can_ends_the_job_in_the_end) {
    EndFacts known = facts(running);
    known.done = said(AttemptOutcome::failed, "wrong_build");
    known.knows_order = true;
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_EQ(end.repeats_max, 8);
    EXPECT_NE(end.reason->message.find("different builds"), std::string::npos);
    known.done = said(AttemptOutcome::failed, "data_error");
    EXPECT_EQ(decide_end(known).repeats_max, 3) << "it is asked of no other code";
}

TEST(DecideEnd, what_was_ended_with_others_or_by_the_cluster_runs_again_uncounted) {
    EndFacts known = facts(running);
    known.note = {.by = EndedBy::others, .where = "task 1 of job 17 of Slurm on node node2"};
    known.exit_status = 137;
    store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.reason->code, "member_lost");
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    known.note = {.by = EndedBy::cluster, .where = "job 17 of Slurm (PREEMPTED)"};
    end = decide_end(known);
    EXPECT_EQ(end.exit_kind, "lost");
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_NE(end.message.find("PREEMPTED"), std::string::npos);
    known.cause = EndCause::cancel;
    EXPECT_EQ(decide_end(known).job_state, cancelled);
    known.done = said(AttemptOutcome::failed, "data_error");
    EXPECT_EQ(decide_end(known).job_state, failed) << "its own word decides";
}

TEST(DecideEnd, the_message_of_a_crash_says_where_it_was) {
    EndFacts known = facts(running);
    known.exit_status = 139;
    known.note.where = "task 1 of job 17 of Slurm on node node2";
    EXPECT_EQ(decide_end(known).message,
              "the executor ended without a done frame (signal 11) as task 1 of job 17 of Slurm on "
              "node node2");
}

TEST(DecideEnd, the_executor_s_own_word_decides) {
    struct Row {
        AttemptOutcome outcome;
        JobState present;
        JobState expected;
    };
    for (const Row& row : {Row{AttemptOutcome::succeeded, running, succeeded},
                           Row{AttemptOutcome::succeeded, cancelling, succeeded},
                           Row{AttemptOutcome::failed, running, failed},
                           Row{AttemptOutcome::cancelled, cancelling, cancelled},
                           Row{AttemptOutcome::timed_out, running, timed_out},
                           Row{AttemptOutcome::orphaned, running, queued},
                           Row{AttemptOutcome::orphaned, pausing, paused},
                           Row{AttemptOutcome::orphaned, preempting, queued}}) {
        EndFacts known = facts(row.present);
        known.done = said(row.outcome);
        known.cause = EndCause::lingering;
        EXPECT_EQ(decide_end(known).job_state, row.expected) << to_string(row.outcome);
    }
}

TEST(DecideEnd, a_failure_keeps_its_code_and_is_never_retried) {
    EndFacts known = facts(running);
    known.done = said(AttemptOutcome::failed, "data_error");
    known.exit_status = 1;
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, failed);
    ASSERT_TRUE(end.reason);
    EXPECT_EQ(end.reason->code, "data_error");
    EXPECT_EQ(end.exit_status, 1);
}

TEST(DecideEnd, who_was_ended_for_its_memory_has_failed_with_both_numbers) {
    EndFacts known = facts(running);
    known.cause = EndCause::memory;
    known.exit_status = 137;
    known.memory = MemoryEnd{.limit_bytes = 1000, .used_bytes = 2000};
    store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, failed);
    EXPECT_EQ(end.exit_kind, "failed");
    ASSERT_TRUE(end.reason);
    EXPECT_EQ(end.reason->code, "oom_host");
    for (const char* number : {"1000 bytes", "2000 bytes"})
        EXPECT_NE(end.message.find(number), std::string::npos) << end.message;
    // By the kernel, for the machine: as often as it is tried, it may be the first to go.
    known.cause = EndCause::none;
    known.memory = MemoryEnd{.limit_bytes = 1000, .machine = true};
    end = decide_end(known);
    EXPECT_EQ(end.reason->code, "oom_host");
    EXPECT_NE(end.message.find("of the machine"), std::string::npos) << end.message;
    EXPECT_NE(end.message.find("1000 bytes"), std::string::npos) << end.message;
    // What was asked for, or was said, counts more.
    known.cause = EndCause::cancel;
    EXPECT_EQ(decide_end(known).job_state, cancelled);
    known.done = said(AttemptOutcome::succeeded);
    EXPECT_EQ(decide_end(known).job_state, succeeded);
}

TEST(DecideEnd, a_success_before_its_end_keeps_its_reason) {
    EndFacts known = facts(running);
    known.done = said(AttemptOutcome::succeeded, "early_stopping");
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, succeeded);
    ASSERT_TRUE(end.reason);
    EXPECT_EQ(end.reason->code, "early_stopping");
    known.done = said(AttemptOutcome::succeeded);
    EXPECT_FALSE(decide_end(known).reason);
}

TEST(DecideEnd, a_full_disk_is_waited_for) {
    EndFacts known = facts(running);
    known.done = said(AttemptOutcome::failed, "disk_full");
    store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_EQ(end.retry_after, std::chrono::minutes{2});
    EXPECT_EQ(end.crash_key, "disk_full");
    ASSERT_TRUE(end.reason);
    EXPECT_EQ(end.reason->code, "disk_full");
    // The disk has no room for the done frame either.
    known.done.reset();
    known.exit_status = exit_disk_full;
    end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_EQ(end.crash_key, "disk_full");
    EXPECT_EQ(end.reason->code, "disk_full");
    known.job_state = pausing;
    EXPECT_EQ(decide_end(known).job_state, paused);
    known.job_state = running;
    known.done = said(AttemptOutcome::failed, "disk_error");
    EXPECT_EQ(decide_end(known).job_state, failed) << "a broken disk is not";
}

TEST(DecideEnd, a_process_that_vanished_runs_again_and_later_each_time) {
    std::chrono::milliseconds before{-1};
    for (int restarts = 0; restarts < 4; ++restarts) {
        EndFacts known = facts(running);
        known.exit_status = 128 + 9;
        known.restarts = restarts;
        const store::AttemptEnd end = decide_end(known);
        EXPECT_EQ(end.job_state, queued);
        EXPECT_EQ(end.exit_kind, "crashed");
        EXPECT_TRUE(end.counts_as_restart);
        EXPECT_GT(end.retry_after, before);
        EXPECT_NE(end.message.find("signal 9"), std::string::npos);
        before = end.retry_after;
    }
    EXPECT_EQ(decide_end(facts(running)).retry_after.count(), 0) << "the first time at once";
}

TEST(DecideEnd, a_crash_says_where_and_is_known_again) {
    EndFacts known = facts(running);
    known.exit_status = 128 + 11;
    EXPECT_EQ(decide_end(known).crash_key, "") << "nobody knows where";
    known.position = RunPosition{.step = 118, .epoch = 2, .batch = 14};
    set_phase(*known.position, "execute");
    const store::AttemptEnd end = decide_end(known);
    EXPECT_NE(end.message.find("(signal 11) in step 118, phase execute"), std::string::npos)
        << end.message;
    const auto result = nlohmann::json::parse(end.result);
    EXPECT_EQ(result["failure"]["step"], 118);
    EXPECT_EQ(result["failure"]["epoch"], 2);
    EXPECT_EQ(result["failure"]["batch"], 14);
    EXPECT_EQ(result["failure"]["phase"], "execute");
    EXPECT_EQ(result["failure"]["operation"], nullptr);
    EXPECT_EQ(result["failure"]["replica"], nullptr);
    set_program(*known.position, "train_step");
    set_operation(*known.position, "matmul 32x10x64", 3);
    const store::AttemptEnd named = decide_end(known);
    EXPECT_NE(named.message.find("in `matmul 32x10x64` of train_step on replica 3"),
              std::string::npos)
        << named.message;
    const auto failure = nlohmann::json::parse(named.result)["failure"];
    EXPECT_EQ(failure["program"], "train_step");
    EXPECT_EQ(failure["operation"], "matmul 32x10x64");
    EXPECT_EQ(failure["replica"], 3);
    EXPECT_EQ(decide_end(known).crash_key, end.crash_key);
    known.position->step = 119;
    EXPECT_NE(decide_end(known).crash_key, end.crash_key);
    known.position->step = 118;
    known.exit_status = 128 + 9;
    EXPECT_NE(decide_end(known).crash_key, end.crash_key);
    known.done = said(AttemptOutcome::failed, "data_error");
    EXPECT_EQ(decide_end(known).crash_key, "");
}

TEST(DecideEnd, what_could_not_be_started_runs_again_and_counts_nothing) {
    EndFacts known = facts(starting);
    known.cause = EndCause::not_started;
    known.problem = "the disk is full";
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_FALSE(end.counts_as_restart);
    EXPECT_GE(end.retry_after, std::chrono::seconds{5}) << "not at once";
    EXPECT_EQ(end.reason->code, "not_started");
    EXPECT_EQ(end.reason->message, "the disk is full");
    EXPECT_EQ(end.fault_host, "") << "a full disk is no reason to leave the host";
    known.host = "a";
    known.is_host_fault = true;
    EXPECT_EQ(decide_end(known).fault_host, "a");
    EXPECT_FALSE(decide_end(known).fails_everywhere);
}

TEST(DecideEnd, a_program_that_did_not_begin_is_no_crash) {
    for (const int status : {125, 126, 127}) {
        EndFacts known = facts(starting);
        known.host = "a";
        known.exit_status = status;
        EXPECT_EQ(decide_end(known).exit_kind, "crashed") << "it has spoken before";
        known.spoke = false;
        const store::AttemptEnd end = decide_end(known);
        EXPECT_EQ(end.exit_kind, "not_started");
        EXPECT_EQ(end.job_state, queued);
        EXPECT_FALSE(end.counts_as_restart);
        EXPECT_EQ(end.fault_host, "a");
        EXPECT_FALSE(end.fails_everywhere) << "the only host may be busy";
        EXPECT_GT(end.repeats_max, 3) << "and not for ever";
        known.note = {.where = "job 7 of Slurm on node n1", .node = "n1"};
        EXPECT_EQ(decide_end(known).fault_host, "") << "the launcher's node is to blame";
        EXPECT_NE(decide_end(known).reason->message.find("on node n1"), std::string::npos);
    }
    EndFacts slow = facts(starting);
    slow.cause = EndCause::not_started;
    EXPECT_EQ(decide_end(slow).exit_kind, "not_started");
    EXPECT_FALSE(decide_end(slow).counts_as_restart);
}

TEST(DecideEnd, other_files_than_those_checked_are_the_host_s_fault) {
    EndFacts known = facts(starting);
    known.host = "a";
    known.done = said(AttemptOutcome::failed, "data_changed");
    const store::AttemptEnd end = decide_end(known);
    EXPECT_EQ(end.job_state, queued);
    EXPECT_EQ(end.reason->code, "data_changed");
    EXPECT_EQ(end.fault_host, "a");
    EXPECT_TRUE(end.fails_everywhere);
    EXPECT_FALSE(end.counts_as_restart);
    known.note = {.where = "job 7 of Slurm on node n1", .node = "n1"};
    EXPECT_EQ(decide_end(known).fault_host, "");
    EXPECT_NE(decide_end(known).reason->message.find("node n1"), std::string::npos);
    EXPECT_EQ(decide_end(known).repeats_max, 3) << "Slurm may choose the same node";
    known.note = {};
    known.done = said(AttemptOutcome::failed, "data_error");
    EXPECT_EQ(decide_end(known).job_state, failed);
    known.is_host_fault = true;
    EXPECT_EQ(decide_end(known).fault_host, "a");
}

TEST(DecideEnd, members_that_never_meet_end_the_job_in_the_end) {
    EndFacts known = facts(starting);
    known.done = said(AttemptOutcome::failed, "member_lost");
    EXPECT_EQ(decide_end(known).crash_key, "") << "it had trained";
    known.stepped = false;
    EXPECT_EQ(decide_end(known).crash_key, "member_lost");
    EXPECT_GT(decide_end(known).repeats_max, 3);
    EXPECT_FALSE(decide_end(known).counts_as_restart);
}

TEST(DecideEnd, what_we_killed_goes_where_it_was_sent) {
    EndFacts known = facts(cancelling);
    known.cause = EndCause::cancel;
    EXPECT_EQ(decide_end(known).job_state, cancelled);
    EXPECT_NE(decide_end(known).message.find("did not end on request"), std::string::npos);
    known.cause = EndCause::kill;
    EXPECT_EQ(decide_end(known).job_state, cancelled);
    EXPECT_EQ(decide_end(known).message, "it was killed");
    known.cause = EndCause::timeout;
    EXPECT_EQ(decide_end(known).job_state, timed_out);
    known.cause = EndCause::preempt;
    known.job_state = preempting;
    EXPECT_EQ(decide_end(known).job_state, queued);
    EXPECT_FALSE(decide_end(known).counts_as_restart);
    known.cause = EndCause::pause;
    known.job_state = pausing;
    EXPECT_EQ(decide_end(known).job_state, paused);
    EXPECT_FALSE(decide_end(known).counts_as_restart);
    known.cause = EndCause::silent;
    known.job_state = running;
    EXPECT_EQ(decide_end(known).job_state, queued);
    EXPECT_TRUE(decide_end(known).counts_as_restart);
}

TEST(DecideEnd, people_are_told_what_the_executor_printed_last) {
    EndFacts known = facts(running);
    known.output_tail = "broken invariant: x";
    EXPECT_NE(decide_end(known).message.find("broken invariant: x"), std::string::npos);
    known.problem = "cannot start /bin/x";
    EXPECT_EQ(decide_end(known).message, "cannot start /bin/x");
}

TEST(DecideEnd, every_end_is_a_legal_move) {
    const std::vector<DoneFrame> words{
        said(AttemptOutcome::succeeded), said(AttemptOutcome::failed),
        said(AttemptOutcome::cancelled), said(AttemptOutcome::timed_out),
        said(AttemptOutcome::orphaned)};
    for (const JobState state : {running, pausing, preempting, cancelling}) {
        for (const DoneFrame& word : words) {
            EndFacts known = facts(state);
            known.done = word;
            const JobState to = decide_end(known).job_state;
            const bool unasked = word.outcome == AttemptOutcome::cancelled && state != cancelling;
            // `queued` becomes `cancelled` for a cancelling job: the store does it. A succeeded job
            // passes through finishing first. A cancel that nobody asked for cannot come.
            const JobState from = state == running && to == succeeded ? finishing : state;
            const bool by_store = state == cancelling && to == queued;
            EXPECT_TRUE(allowed(from, to) || by_store || unasked)
                << to_string(state) << " -> " << to_string(to);
        }
    }
}

}    // namespace
}    // namespace slipway
