#include "scheduler/store/attempts.h"

#include <gmock/gmock.h>

#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/events.h"
#include "scheduler/store/invariants.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using enum JobState;

class Attempts : public StoreTest {
protected:
    const AttemptEnd crashed{
        .exit_kind = "crashed", .exit_status = 139, .message = "signal 11", .job_state = queued};

    void expire_leases() const {
        database.sql("update lease set expires_at = clock_timestamp() - interval '1 minute'");
    }
};

/// A job on two hosts.
class SliceAttempts : public Attempts {
protected:
    AttemptKey start_slice() {
        add_host();
        add_host("host-b");
        NewJob job = new_job();
        job.cores = 16;
        const std::string id = submit(job);
        const std::vector<int> whole{1, 2, 3, 4, 5, 6, 7, 8};
        commit_placements(store, {{.job_id = id,
                                   .members = {{.host = host, .cores = whole}, {"host-b", whole}},
                                   .fence = random_hex(16)}});
        return list_attempts(store, id).items.at(0).key();
    }
};

TEST_F(SliceAttempts, a_slice_has_all_its_hosts_or_none) {
    add_host();
    add_host("host-b");
    place(submit(), {3}, "host-b");
    NewJob job = new_job();
    job.cores = 16;
    const std::string id = submit(job);
    const std::vector<int> whole{1, 2, 3, 4, 5, 6, 7, 8};
    const auto outcomes =
        commit_placements(store, {{.job_id = id,
                                   .members = {{.host = host, .cores = whole}, {"host-b", whole}},
                                   .fence = random_hex(16)}});
    EXPECT_FALSE(outcomes.at(0).attempt);
    EXPECT_EQ(count("lease"), 1);
    EXPECT_EQ(state_of(id), queued);
}

TEST_F(SliceAttempts, members_offer_and_end_one_by_one_under_the_fence) {
    const AttemptKey key = start_slice();
    const std::string bytes("\x00\x01 \\x\xff", 6);
    offer_rendezvous(store, key, 1, bytes);
    offer_rendezvous(store, key, 1, "a second one");
    AttemptEnd end = crashed;
    end.reason = Reason{"some_code", "why"};
    end.crash_key = "key";
    end.retry_after_max = std::chrono::seconds{7};
    end.repeats_max = 8;
    end_member(store, key, 1, end);
    end_member(store, key, 1, {.exit_kind = "succeeded", .job_state = succeeded});
    for (const char* where : {"host-a", "host-b"}) {
        if (list_live_attempts(store, where).empty()) continue;
        const HostAttempt found = list_live_attempts(store, where).at(0);
        const AttemptMember& member = found.attempt.members.at(1);
        EXPECT_EQ(member.rendezvous, bytes);
        ASSERT_TRUE(member.end && member.ended_at);
        EXPECT_EQ(member.end->exit_kind, "crashed") << "the first end counts";
        EXPECT_EQ(member.end->exit_status, 139);
        EXPECT_EQ(member.end->job_state, queued);
        EXPECT_EQ(member.end->reason->code, "some_code");
        EXPECT_EQ(member.end->crash_key, "key");
        EXPECT_EQ(member.end->retry_after_max, std::chrono::seconds{7});
        EXPECT_EQ(member.end->repeats_max, 8);
        EXPECT_FALSE(found.attempt.members.at(0).end);
    }
    EXPECT_EQ(count("lease"), 16) << "the attempt goes on";
    AttemptKey stale = key;
    stale.fence = random_hex(16);
    EXPECT_THROW(offer_rendezvous(store, stale, 0, "x"), Fenced);
    EXPECT_THROW(end_member(store, stale, 0, end), Fenced);
    finish_attempt(store, key, crashed);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_THROW(end_member(store, key, 0, end), Fenced);
}

TEST_F(SliceAttempts, frames_of_a_rank_have_numbers_of_their_own) {
    const AttemptKey key = start_slice();
    MetricSeries series;
    relay_frames(store, key, {{.number = 3, .state = RelayedState{compiling}}}, series);
    const RelayedFrame line{.number = 1, .events = {{"log", R"({"message": "x", "rank": 1})"}}};
    EXPECT_EQ(relay_frames(store, key, {line}, series, 1).frames_relayed, 1);
    EXPECT_EQ(relay_frames(store, key, {line}, series, 1).frames_relayed, 1) << "stored once";
    const Attempt attempt = list_attempts(store, key.job_id).items.at(0);
    EXPECT_EQ(attempt.members.at(0).frames_relayed, 3);
    EXPECT_EQ(attempt.members.at(1).frames_relayed, 1);
}

TEST_F(SliceAttempts, running_slices_are_listed_for_who_sees_their_project) {
    const AttemptKey key = start_slice();
    add_host("host-c");
    place(submit(new_job("alone")), {1}, "host-c");
    const auto slices = list_slices(store);
    ASSERT_EQ(slices.size(), 1U);
    EXPECT_EQ(slices[0].attempt.key(), key);
    EXPECT_EQ(slices[0].attempt.members.size(), 2U);
    EXPECT_TRUE(list_slices(store, {"another"}).empty());
    finish_attempt(store, key, crashed);
    EXPECT_TRUE(list_slices(store).empty());
}

TEST_F(SliceAttempts, one_silent_host_loses_the_attempt_and_is_named) {
    const AttemptKey key = start_slice();
    EXPECT_EQ(rescue_from("host-b").size(), 1U);
    EXPECT_EQ(list_attempts(store, key.job_id).items.at(0).message,
              "host host-b sent no heartbeat for longer than its lease");
    EXPECT_EQ(count("lease"), 0);
}

// Goal: a limit of time is the database's: all attempts of a job, up to now.
TEST_F(Attempts, run_time_is_counted_by_the_database) {
    const AttemptKey first = running_job();
    EXPECT_EQ(find_run_time(store, first.job_id).count(), 0) << "no process has begun";
    record_process(store, first, 0, 1, 2, "");
    finish_attempt(store, first, crashed);
    database.sql(
        "update attempt set started_at = clock_timestamp() - interval '2 hours', "
        "ended_at = clock_timestamp() - interval '90 minutes'");
    EXPECT_NEAR(find_run_time(store, first.job_id).count(), 1800, 1);
    record_process(store, place(first.job_id, {2}), 0, 1, 3, "");
    database.sql(
        "update attempt set started_at = clock_timestamp() - interval '1 hour' "
        "where ended_at is null");
    EXPECT_GE(find_run_time(store, first.job_id).count(), 5399);
}

TEST_F(Attempts, an_agent_sees_all_it_needs) {
    add_host();
    NewJob job = new_job();
    job.dataset_id = new_id("ds");
    create_dataset(store, {.id = job.dataset_id,
                           .name = "digits",
                           .format = "csv",
                           .source = R"({"path": "d"})",
                           .options = R"({"label_column": "y"})"});
    const DatasetCheck check = claim_dataset_check(store, host, 10s).value();
    finish_dataset_check(store, job.dataset_id, check.fence, {.ready = true});
    submit(job);
    const AttemptKey key = place(job.id, {6});
    record_process(store, key, 0, 4711, 123456789012, "");
    RelayedFrame frame;
    frame.number = 1;
    frame.checkpoint =
        RelayedCheckpoint{.id = new_id("ckp"), .name = "step_5", .step = 5, .files = "[]"};
    relay_frames(store, key, {frame});

    const std::vector<HostAttempt> live = list_live_attempts(store, host);
    ASSERT_EQ(live.size(), 1U);
    EXPECT_EQ(live[0].attempt.key(), key);
    EXPECT_EQ(live[0].member().pid, 4711);
    EXPECT_EQ(live[0].member().start_ticks, 123456789012);
    EXPECT_THAT(live[0].member().cores, ElementsAre(6));
    EXPECT_EQ(live[0].job_state, starting);
    EXPECT_THAT(live[0].spec, HasSubstr("mlp"));
    EXPECT_EQ(live[0].dataset_name, "digits");
    EXPECT_EQ(live[0].dataset_options, R"({"label_column": "y"})");
    EXPECT_EQ(live[0].resume_checkpoint, "step_5");
    EXPECT_EQ(live[0].resume_checkpoint_id, frame.checkpoint->id);
    EXPECT_FALSE(live[0].lease_expired);
    EXPECT_TRUE(list_live_attempts(store, "host-b").empty());
    expire_leases();
    EXPECT_TRUE(list_live_attempts(store, host).at(0).lease_expired);
}

// Goal: each host sees the member that is its own and keeps the leases of its own cores alone; when
// one host is lost, the whole attempt is.
TEST_F(Attempts, of_two_hosts_each_sees_its_member_and_renews_its_leases) {
    add_host();
    add_host("host-b");
    NewJob job = new_job();
    job.cores = 2;
    submit(job);
    Placement wanted = placement(job.id, {3});
    wanted.members.push_back({.host = "host-b", .cores = {4}});
    ASSERT_TRUE(commit_placements(store, {wanted}).at(0).attempt);
    const AttemptKey key{job.id, 1, wanted.fence};
    record_process(store, key, 1, 4711, 5, "");
    EXPECT_THROW(record_process(store, key, 2, 4712, 5, ""), Fenced);

    const HostAttempt here = list_live_attempts(store, host).at(0);
    EXPECT_EQ(here.member().host, host);
    EXPECT_THAT(here.member().cores, ElementsAre(3));
    EXPECT_FALSE(here.member().pid);
    const HostAttempt there = list_live_attempts(store, "host-b").at(0);
    EXPECT_EQ(there.attempt.members.size(), 2U);
    EXPECT_EQ(there.rank, 1);
    EXPECT_EQ(there.member().pid, 4711);

    expire_leases();
    EXPECT_TRUE(renew_leases(store, host, {key}, 10s).empty());
    EXPECT_FALSE(list_live_attempts(store, host).at(0).lease_expired);
    EXPECT_TRUE(list_live_attempts(store, "host-b").at(0).lease_expired);
    EXPECT_THAT(renew_leases(store, "host-c", {key}, 10s), ElementsAre(key));
    ASSERT_EQ(rescue_from("host-b").size(), 1U);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(state_of(job.id), queued);
}

// Goal: an attempt that was replaced writes nothing, whatever it tries.
TEST_F(Attempts, a_stale_attempt_is_fenced_from_every_write) {
    const AttemptKey old = running_job();
    finish_attempt(store, old, crashed);
    const AttemptKey live = place(old.job_id);
    EXPECT_EQ(live.attempt, 2);
    AttemptKey guessed = live;
    guessed.fence = random_hex(16);
    AttemptKey mixed = old;
    mixed.attempt = live.attempt;

    const Job before = find_job(store, old.job_id).value();
    RelayedFrame frame;
    frame.number = 99;
    frame.state = RelayedState{compiling};
    frame.events = {{"log", R"({"message": "zombie"})"}};
    frame.metrics = {{"loss", 1, 1, 0.5}};
    frame.progress = R"({"step": 1})";
    frame.checkpoint = RelayedCheckpoint{.id = new_id("ckp"), .name = "zombie", .files = "[]"};
    for (const AttemptKey& stale : {old, guessed, mixed}) {
        EXPECT_THROW(relay_frames(store, stale, {frame}), Fenced);
        EXPECT_THROW(record_process(store, stale, 0, 1, 1, ""), Fenced);
        EXPECT_THROW(finish_attempt(store, stale, crashed), Fenced);
        EXPECT_THAT(renew_leases(store, host, {stale}, 10s), ElementsAre(stale));
    }
    const Job after = find_job(store, old.job_id).value();
    EXPECT_EQ(after.event_seq, before.event_seq);
    EXPECT_EQ(after.version, before.version);
    EXPECT_EQ(after.state, starting);
    EXPECT_EQ(count("metric_chunk"), 0);
    EXPECT_EQ(count("checkpoint"), 0);
    EXPECT_TRUE(renew_leases(store, host, {live}, 10s).empty());
}

TEST_F(Attempts, renewing_extends_leases_and_names_the_lost) {
    const AttemptKey key = running_job();
    const AttemptKey unknown{new_id("job"), 1, random_hex(16)};
    expire_leases();
    EXPECT_THAT(renew_leases(store, host, {key, unknown}, 10s), ElementsAre(unknown));
    EXPECT_EQ(count("lease where expires_at > clock_timestamp() + interval '5 seconds'"), 1);
    // Another host cannot renew it.
    add_host("host-b");
    EXPECT_THAT(renew_leases(store, "host-b", {key}, 10s), ElementsAre(key));
    EXPECT_TRUE(renew_leases(store, host, {}, 10s).empty());
}

TEST_F(Attempts, an_end_frees_the_cores_and_writes_the_last_event) {
    const AttemptKey key = running_job();
    relay_state(key, 3, finishing);
    EXPECT_EQ(finish_attempt(store, key,
                             {.exit_kind = "succeeded",
                              .exit_status = 0,
                              .job_state = succeeded,
                              .result = R"({"val_accuracy": 0.98})"}),
              succeeded);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(find_job(store, key.job_id)->result, R"({"val_accuracy": 0.98})");
    const std::vector<Event> events = list_events(store, key.job_id, {});
    EXPECT_EQ(events.back().type, "end");
    EXPECT_THAT(events.back().body, HasSubstr("succeeded"));
    EXPECT_THROW(finish_attempt(store, key, crashed), Fenced);
    EXPECT_EQ(list_attempts(store, key.job_id).items.at(0).exit_kind, "succeeded");
}

TEST_F(Attempts, an_end_without_the_states_before_it_is_still_a_legal_path) {
    add_host();
    for (const JobState end : {succeeded, cancelled, paused, failed, timed_out}) {
        const std::string id = submit();
        const AttemptKey key = place(id);
        EXPECT_EQ(finish_attempt(store, key, {.exit_kind = "x", .job_state = end}), end);
        EXPECT_EQ(state_of(id), end);
    }
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(Attempts, a_lost_executor_is_retried_until_the_limit) {
    add_host();
    NewJob job = new_job();
    job.restarts_max = 2;
    submit(job);
    for (int restart = 1; restart <= 2; ++restart) {
        EXPECT_EQ(finish_attempt(store, place(job.id), crashed), queued);
        EXPECT_EQ(find_job(store, job.id)->restarts, restart);
    }
    // Giving way to others is no restart.
    AttemptEnd drained = crashed;
    drained.counts_as_restart = false;
    EXPECT_EQ(finish_attempt(store, place(job.id), drained), queued);
    EXPECT_EQ(finish_attempt(store, place(job.id), crashed), failed);
    const Job failed_job = find_job(store, job.id).value();
    EXPECT_EQ(failed_job.reason->code, "executor_lost");
    EXPECT_THAT(failed_job.reason->message, HasSubstr("signal 11"));
    EXPECT_EQ(failed_job.attempts, 4);
}

TEST_F(Attempts, the_same_crash_three_times_in_a_row_is_no_accident) {
    add_host();
    NewJob job = new_job();
    job.restarts_max = 100;
    submit(job);
    const auto crash = [&](const std::string& key) {
        AttemptEnd end = crashed;
        end.crash_key = key;
        return finish_attempt(store, place(job.id), end);
    };
    EXPECT_EQ(crash("none 139 7"), queued);
    EXPECT_EQ(crash("none 139 7"), queued);
    EXPECT_EQ(crash("none 139 8"), queued) << "it came further";
    EXPECT_EQ(crash(""), queued) << "nobody knows where";
    EXPECT_EQ(crash("none 139 8"), queued);
    EXPECT_EQ(crash("none 139 8"), queued);
    EXPECT_EQ(crash("none 139 8"), failed);
    const Job ended = find_job(store, job.id).value();
    EXPECT_EQ(ended.reason->code, "repeated_crash");
    EXPECT_THAT(ended.reason->message, HasSubstr("signal 11"));
    EXPECT_EQ(ended.restarts, 6);
}

TEST_F(Attempts, no_number_of_lost_hosts_ends_a_job) {
    add_host("host-b");
    NewJob job = new_job();
    job.restarts_max = 0;
    submit(job);
    for (int i = 0; i < 5; ++i) {
        place(job.id, {1}, "host-b");
        ASSERT_EQ(rescue_from("host-b").size(), 1U);
        ASSERT_EQ(state_of(job.id), queued);
    }
    EXPECT_EQ(find_job(store, job.id)->reason->code, "host_lost");
}

TEST_F(Attempts, a_lost_executor_ends_what_the_user_asked_to_end) {
    add_host();
    const std::string cancelled_job = submit();
    const AttemptKey first = place(cancelled_job);
    request_intent(store, cancelled_job, Intent::cancel, {"user", "enough"});
    EXPECT_EQ(finish_attempt(store, first, crashed), cancelled);
    EXPECT_EQ(find_job(store, cancelled_job)->reason->message, "enough");

    const std::string paused_job = submit();
    const AttemptKey second = place(paused_job);
    move_job(store, paused_job, pausing, Reason{"user", "later"});
    EXPECT_EQ(finish_attempt(store, second, crashed), paused);

    const std::string preempted_job = submit();
    const AttemptKey third = place(preempted_job);
    move_job(store, preempted_job, preempting, std::nullopt);
    EXPECT_EQ(finish_attempt(store, third, crashed), queued);
    EXPECT_EQ(find_job(store, preempted_job)->restarts, 0);
}

// Goal: the agent that ends an attempt as paused may not have heard of a later cancel.
TEST_F(Attempts, a_cancel_overtakes_a_pause_that_its_agent_ends) {
    const AttemptKey key = running_job();
    request_intent(store, key.job_id, Intent::pause, {"user", "later"});
    request_intent(store, key.job_id, Intent::cancel, {"user", "enough"});
    EXPECT_EQ(finish_attempt(store, key, {.exit_kind = "orphaned", .job_state = paused}),
              cancelled);
    EXPECT_EQ(find_job(store, key.job_id)->reason->message, "enough");
}

TEST_F(Attempts, an_illegal_end_changes_nothing) {
    const AttemptKey key = running_job();
    EXPECT_THROW(finish_attempt(store, key, {.exit_kind = "x", .job_state = expired}),
                 IllegalTransition);
    EXPECT_EQ(state_of(key.job_id), running);
    EXPECT_EQ(list_live_attempts(store, host).size(), 1U);
    EXPECT_EQ(count("lease"), 1);
}

TEST_F(Attempts, rescue_takes_what_is_as_it_was_seen) {
    add_host();
    add_host("host-b");
    const std::string mine = submit();
    const std::string theirs = submit();
    const std::string cancelling_job = submit();
    place(mine, {1}, host);
    const AttemptKey lost = place(theirs, {1}, "host-b");
    place(cancelling_job, {2}, "host-b");
    request_intent(store, cancelling_job, Intent::cancel, {"user", ""});

    const std::vector<Rescued> rescued = rescue_from("host-b");
    ASSERT_EQ(rescued.size(), 2U);
    EXPECT_EQ(state_of(mine), starting);
    EXPECT_EQ(state_of(theirs), queued);
    EXPECT_EQ(find_job(store, theirs)->restarts, 0) << "a host's loss is not the job's";
    EXPECT_EQ(state_of(cancelling_job), cancelled);
    EXPECT_EQ(list_attempts(store, theirs).items.at(0).exit_kind, "lost");
    EXPECT_EQ(count("lease"), 1);
    EXPECT_TRUE(rescue_from("host-b").empty());
    EXPECT_THAT(renew_leases(store, "host-b", {lost}, 10s), ElementsAre(lost));
    EXPECT_EQ(rescue_from(host).size(), 1U);
    EXPECT_EQ(state_of(mine), queued);
}

TEST_F(Attempts, a_heartbeat_in_time_prevents_the_rescue) {
    add_host("host-b");
    const std::string id = submit();
    const AttemptKey key = place(id, {1}, "host-b");
    const std::vector<HeldLease> seen = list_leases(store);
    EXPECT_TRUE(renew_leases(store, "host-b", {key}, 10s).empty());
    EXPECT_TRUE(rescue_lost(store, seen).empty());
    EXPECT_EQ(state_of(id), starting);
}

// Goal: an attempt ends whatever the clock of the database has been set to since it began.
// Method: its rows are moved into the future, as if the clock had been set back after them.
TEST_F(Attempts, an_attempt_ends_after_the_clock_was_set_back) {
    const AttemptKey key = running_job();
    RelayedFrame frame;
    frame.number = 3;
    frame.metrics = {{"loss", 1, 0, 0.5}};
    relay_frames(store, key, {frame});
    for (const char* column : {"attempt set created_at", "attempt set started_at",
                               "metric_chunk set written_at", "host set heartbeat_at"})
        database.sql(fmt::format("update {} = clock_timestamp() + interval '2 hours'", column));
    finish_attempt(store, key, crashed);
    EXPECT_EQ(state_of(key.job_id), queued);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(database.sql("select bool_and(core_seconds >= 0) from project_usage"), "t");
    for (const Invariant& invariant : invariants())
        EXPECT_TRUE(find_violations(store, invariant, 10).empty()) << invariant.name;
}

TEST_F(Attempts, broken_text_of_an_executor_is_kept_readable) {
    using namespace std::string_literals;
    const AttemptKey key = running_job();
    AttemptEnd end{.exit_kind = "failed",
                   .exit_status = 1,
                   .message = "bad \xff byte, nul \0"s,
                   .job_state = failed};
    end.reason = Reason{"data_error", "file \xc3\x28 row 3"};
    end.result = R"({"note": "\u0000"})";
    finish_attempt(store, key, end);
    EXPECT_EQ(find_job(store, key.job_id)->reason->message, "file \xef\xbf\xbd( row 3");
    EXPECT_THAT(find_job(store, key.job_id)->result, HasSubstr("note"));
}

}    // namespace

}    // namespace slipway::store
