// Goal: an attempt's life under the agent, from its first frame to its last process, whatever
// happens to the executor, the agent and the database.
// Method: the real agent and store, real processes that misbehave on request.

#include "scheduler/agent/agent.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "scheduler/agent/frame_tail.h"
#include "scheduler/agent/garbage.h"
#include "scheduler/store/relay.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;
using enum JobState;

class AgentTest : public AgentBench {
protected:
    /// A job that trains until say_enough().
    store::AttemptKey run_until_enough() {
        return run_job({{"steps", "100000"}, {"step_ms", "3"}, {"until", enough_.string()}});
    }
    void say_enough() const { std::ofstream(enough_).close(); }

    using AgentBench::expect_complete;
    /// With as many steps as its result says.
    void expect_complete(const std::string& job_id) {
        expect_complete(job_id, Json::parse(store::find_job(store, job_id)->result).at("step"));
    }

private:
    const std::filesystem::path enough_ = folder.path() / "enough";
};

// Goal: a database that does not answer one question while an attempt begins costs the job nothing.
// Method: the table that is asked is away for a while; the others answer, so leases go on.
TEST_F(AgentTest, a_question_without_an_answer_while_an_attempt_begins_costs_no_restart) {
    start_agent();
    const std::string id = submit_labelled({{"steps", "5"}}, Json::object());
    database.sql("alter table project rename to project_away");
    const store::AttemptKey key = place(id);
    agent->wake();
    ASSERT_TRUE(eventually([&] { return agent->counts().failed_calls > 0; }));
    EXPECT_EQ(state_of(key.job_id), JobState::starting);
    database.sql("alter table project_away rename to project");
    ASSERT_TRUE(reaches(key.job_id, JobState::succeeded));
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 0);
    EXPECT_EQ(store::find_job(store, key.job_id)->attempts, 1);
}

// Goal: an attempt that cannot begin holds up no other one.
// Method: all numbers of projects are given out, or one project's cannot be asked for.
TEST_F(AgentTest, an_attempt_that_cannot_begin_holds_up_no_other_one) {
    start_agent();
    const auto first = run_until_enough();
    ASSERT_TRUE(trains(first.job_id));
    store::NewJob job = new_job();
    job.project = "another";
    job.spec = Json{{"labels", Labels{{"steps", "5"}}}}.dump();
    job.dataset_id = store::find_dataset(store, "default", "digits")->id;
    const std::string other = submit(job);
    database.sql("alter table project rename to project_away");
    const auto second = place(other, {2});
    agent->wake();
    ASSERT_TRUE(eventually([&] { return agent->counts().failed_calls > 0; }));
    EXPECT_TRUE(trains(first.job_id, points(first.job_id) + 20));
    EXPECT_EQ(state_of(second.job_id), JobState::starting);
    database.sql(
        "alter table project_away rename to project; "
        "insert into project (name, number) values ('last', 60000)");
    ASSERT_TRUE(reaches(second.job_id, failed));
    EXPECT_NE(store::find_job(store, second.job_id)->reason->message.find("another project"),
              std::string::npos);
    say_enough();
    ASSERT_TRUE(reaches(first.job_id, succeeded));
}

TEST_F(AgentTest, a_job_runs_to_its_end_and_everything_it_said_is_stored) {
    start_agent();
    const auto key = run_job({{"steps", "20"}});
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id, 20);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_TRUE(is_gone(key));
    const store::Attempt attempt = attempt_of(key);
    EXPECT_EQ(attempt.exit_kind, "succeeded");
    EXPECT_EQ(attempt.exit_status, 0);
    EXPECT_GT(attempt.members.at(0).pid, 0);
    EXPECT_EQ(Json::parse(store::find_job(store, key.job_id)->result).at("step"), 20);
    EXPECT_TRUE(eventually([&] { return agent->counts().finished == 1; }));
}

TEST_F(AgentTest, dropped_checkpoints_go_from_the_disk_and_kept_ones_stay) {
    start_agent();
    const auto key = run_job({{"steps", "20"}, {"save_every", "5"}});
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    const auto checkpoints = options.home / "store" / "checkpoints" / key.job_id;
    for (const auto& [name, kept] :
         {std::pair("step_000005_attempt_1", false), std::pair("step_000010_attempt_1", false),
          std::pair("step_000015_attempt_1", true), std::pair("step_000020_attempt_1", true)}) {
        EXPECT_TRUE(eventually([path = checkpoints / name, wanted = kept] {
            return std::filesystem::exists(path) == wanted;
        })) << name;
    }
    EXPECT_EQ(store::find_newest_checkpoint(store, key.job_id)->name, "step_000020_attempt_1");
}

// Method: triggers pin one checkpoint and have the other used as soon as they are there, so that
// both are needed before the executor drops them.
TEST_F(AgentTest, dropped_checkpoints_that_somebody_needs_stay_on_the_disk) {
    const std::string user = submit(new_job("user"));
    database.sql(R"(
        create function need() returns trigger language plpgsql as $$
        begin
            update checkpoint set pinned = true
            where id = new.id and name like 'step_000005%';
            insert into checkpoint_use
            select id, ')" +
                 user + R"(' from checkpoint
            where id = new.id and name like 'step_000010%';
            return null;
        end $$;
        create trigger need after insert on checkpoint for each row execute function need();)");
    start_agent();
    const auto key = run_job({{"steps", "25"}, {"save_every", "5"}});
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    const auto checkpoints = options.home / "store" / "checkpoints" / key.job_id;
    const auto left = [&] {
        std::set<int> steps;
        for (const auto& entry : std::filesystem::directory_iterator(checkpoints))
            steps.insert(std::stoi(entry.path().filename().string().substr(5)));
        return steps;
    };
    EXPECT_TRUE(eventually([&] { return left() == std::set{5, 10, 20, 25}; }));
    agent.reset();
    EXPECT_EQ(left(), (std::set{5, 10, 20, 25}));
    store::request_intent(store, user, Intent::cancel, {"user", ""});
    remove_garbage(store, options);
    EXPECT_EQ(left(), (std::set{5, 20, 25}));
}

TEST_F(AgentTest, a_failure_keeps_its_reason_and_is_not_tried_again) {
    start_agent();
    const auto key = run_job({{"steps", "2"}, {"fail", "data_error"}});
    ASSERT_TRUE(reaches(key.job_id, failed));
    const store::Job job = *store::find_job(store, key.job_id);
    EXPECT_EQ(job.reason->code, "data_error");
    EXPECT_EQ(job.restarts, 0);
}

TEST_F(AgentTest, a_killed_executor_is_found_at_once_and_resumes_from_its_checkpoint) {
    options.silence_max = options.lease = 60s;    // nothing else finds it
    start_agent();
    const auto key = run_job({{"steps", "400"}, {"freeze_at", "5"}});    // with a checkpoint
    ASSERT_TRUE(eventually([&] { return count("checkpoint") > 0; }));
    const Tick killed = system_clock().tick();
    ::kill(process_of(key)->id.pid, SIGKILL);
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_LT(system_clock().tick() - killed, 30s);
    EXPECT_EQ(attempt_of(key).exit_kind, "crashed");
    EXPECT_EQ(attempt_of(key).exit_status, 128 + SIGKILL);
    EXPECT_EQ(count("lease"), 0);
    const auto again = place(key.job_id);
    EXPECT_EQ(again.attempt, 2);
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id, 400);
    EXPECT_TRUE(attempt_of(again).resumed_from.starts_with("ckp_"));
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 1);
}

TEST_F(AgentTest, restarts_are_used_up_in_the_end) {
    start_agent();
    auto key = run_job({{"steps", "20"}, {"crash_always", "3"}});
    for (int restart = 0; restart < 3; ++restart) {
        ASSERT_TRUE(reaches(key.job_id, queued));
        database.sql("update queue set not_before = null");    // the back-off is another test's
        key = place(key.job_id);
        agent->wake();
    }
    ASSERT_TRUE(reaches(key.job_id, failed));
    EXPECT_EQ(store::find_job(store, key.job_id)->reason->code, "executor_lost");
    EXPECT_EQ(key.attempt, 4);
}

TEST_F(AgentTest, a_cancelled_job_ends_by_itself_and_a_killed_one_at_once) {
    start_agent();
    const store::AttemptKey cancelled = run_job({{"steps", "100000"}});
    const store::AttemptKey killed = place(submit_labelled({{"steps", "100000"}}), {2});
    agent->wake();
    ASSERT_TRUE(trains(cancelled.job_id) && trains(killed.job_id));
    store::request_intent(store, cancelled.job_id, Intent::cancel, {"cancelled", "by a test"});
    store::request_intent(store, killed.job_id, Intent::kill, {"killed", "by a test"});
    agent->wake();
    ASSERT_TRUE(reaches(cancelled.job_id, JobState::cancelled));
    ASSERT_TRUE(reaches(killed.job_id, JobState::cancelled));
    EXPECT_EQ(attempt_of(cancelled).exit_status, 0);
    EXPECT_EQ(attempt_of(killed).exit_status, 128 + SIGKILL);
    EXPECT_EQ(store::find_job(store, killed.job_id)->reason->code, "killed");
    EXPECT_TRUE(is_gone(killed));
}

TEST_F(AgentTest, a_silent_executor_is_killed_and_its_job_runs_again) {
    options.silence_max = 300ms;
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"freeze_at", "3"}});
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_TRUE(is_gone(key));
    EXPECT_TRUE(eventually([&] { return agent->counts().unresponsive == 1; }));
    EXPECT_NE(attempt_of(key).message.find("sent nothing"), std::string::npos);
}

TEST_F(AgentTest, an_executor_that_never_speaks_is_given_up) {
    options.start_max = 200ms;
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"mute", "yes"}});
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_TRUE(is_gone(key));
}

TEST_F(AgentTest, a_cancelled_job_ends_on_request_and_keeps_the_user_s_reason) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(trains(key.job_id));
    store::request_intent(store, key.job_id, Intent::cancel,
                          {.code = "cancelled", .message = "by ada"});
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_EQ(attempt_of(key).exit_kind, "cancelled");
    EXPECT_EQ(store::find_job(store, key.job_id)->reason->message, "by ada");
    EXPECT_TRUE(is_gone(key));
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(AgentTest, an_executor_that_hears_nothing_is_killed_with_everything_it_started) {
    options.stop_save = 100ms;
    options.stop_term = 100ms;
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"deaf", "yes"}, {"child", "yes"}});
    ASSERT_TRUE(trains(key.job_id));
    ASSERT_EQ(session_members(process_of(key)->id.pid).size(), 2U);
    store::request_intent(store, key.job_id, Intent::cancel, {.code = "cancelled", .message = {}});
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_TRUE(is_gone(key));
    EXPECT_EQ(attempt_of(key).exit_status, 128 + SIGKILL);
}

TEST_F(AgentTest, what_an_executor_leaves_behind_is_ended_before_its_cores_are_free) {
    start_agent();
    const auto key = run_job({{"steps", "3"}, {"child", "yes"}});
    ASSERT_TRUE(eventually([&] { return state_of(key.job_id) == succeeded; }));
    EXPECT_TRUE(is_gone(key));
}

TEST_F(AgentTest, a_job_cancelled_before_its_start_never_starts) {
    const auto key = run_job({{"steps", "100000"}});
    store::request_intent(store, key.job_id, Intent::cancel, {.code = "cancelled", .message = {}});
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_EQ(attempt_of(key).members.at(0).pid, std::nullopt);
    EXPECT_FALSE(process_of(key));
}

TEST_F(AgentTest, a_paused_job_saves_and_gives_its_cores_back) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(trains(key.job_id));
    store::request_intent(store, key.job_id, Intent::pause, {"paused", "by ada"});
    ASSERT_TRUE(reaches(key.job_id, paused));
    EXPECT_EQ(attempt_of(key).exit_kind, "orphaned");
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 0);
    EXPECT_TRUE(store::find_newest_checkpoint(store, key.job_id));
}

TEST_F(AgentTest, a_job_over_its_wall_time_is_timed_out) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}}, {{"max_wall_s", 0.3}});
    ASSERT_TRUE(reaches(key.job_id, timed_out));
    EXPECT_GE(points(key.job_id), 1);
    EXPECT_TRUE(is_gone(key));
}

TEST_F(AgentTest, a_job_over_its_core_time_is_timed_out) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}}, {{"max_wall_s", 3600}, {"max_core_s", 0.3}});
    ASSERT_TRUE(reaches(key.job_id, timed_out));
    EXPECT_GE(points(key.job_id), 1);
}

TEST_F(AgentTest, a_new_agent_takes_over_what_runs_and_nothing_is_lost_or_doubled) {
    start_agent();
    const auto key = run_until_enough();
    for (int restart = 0; restart < 4; ++restart) {
        ASSERT_TRUE(trains(key.job_id, 20 + 60 * restart));
        agent.reset();
        const std::int64_t before = points(key.job_id);
        start_agent();
        ASSERT_TRUE(trains(key.job_id, before + 1));
        EXPECT_EQ(agent->counts().started, 0);
    }
    say_enough();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id);
    EXPECT_EQ(store::list_attempts(store, key.job_id).items.size(), 1U);
    EXPECT_EQ(attempt_of(key).exit_kind, "succeeded");
    EXPECT_EQ(attempt_of(key).exit_status, std::nullopt) << "it was not the last agent's child";
}

TEST_F(AgentTest, an_executor_that_ended_while_nobody_listened_is_read_to_its_last_word) {
    start_agent();
    const auto key = run_until_enough();
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    say_enough();
    ASSERT_TRUE(eventually([&] { return is_gone(key); }));
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id);
}

TEST_F(AgentTest, last_words_count_when_an_agent_ended_right_after_it_had_stored_them) {
    start_agent();
    const auto key = run_until_enough();
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    say_enough();
    ASSERT_TRUE(eventually([&] { return is_gone(key); }));
    // What the agent would have done next, up to the moment before it writes the end.
    FrameTail tail(run_folder_of(key) / "frames.ndjson",
                   attempt_of(key).members.at(0).frames_relayed);
    std::vector<store::RelayedFrame> frames;
    for (const ReadFrame& each : tail.peek(10000))
        frames.push_back(each.frame);
    ASSERT_FALSE(frames.empty());
    store::relay_frames(store, key, frames);
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id);
    EXPECT_EQ(store::list_attempts(store, key.job_id).items.size(), 1U);
}

TEST_F(AgentTest, an_executor_that_was_killed_while_nobody_listened_runs_again) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    ::kill(process_of(key)->id.pid, SIGKILL);
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(AgentTest, without_an_agent_for_the_grace_time_it_saves_ends_and_resumes_later) {
    options.grace = 1s;
    start_agent();
    const auto key = run_until_enough();
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    ASSERT_TRUE(eventually([&] { return is_gone(key); }));
    start_agent();
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_EQ(attempt_of(key).exit_kind, "orphaned");
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 0) << "nothing was wrong with it";
    place(key.job_id);
    agent->wake();
    ASSERT_TRUE(trains(key.job_id, points(key.job_id) + 1));
    say_enough();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    expect_complete(key.job_id);
}

TEST_F(AgentTest, a_run_folder_that_somebody_lives_in_is_not_started_again) {
    // An agent that died between starting the executor and telling anybody about it.
    const auto key = run_until_enough();
    const auto run = run_folder_of(key);
    make_run_folder(run);
    const auto found = store::list_live_attempts(store, host).at(0);
    write_file_aside(
        run / "attempt.json",
        to_json(attempt_order(found, {.dataset = "/", .checkpoints = folder.path() / "c"})).dump());
    auto lock = lock_run_folder(run);
    ProcessRecords records(options.home / "processes", id_scope());
    const RunningProcess earlier =
        spawn({.program = options.executor,
               .arguments = {"attempt", run.string()},
               .folder = run,
               .output = run / "output.log",
               .result = {},
               .lock_fd = lock->get(),
               .before_start = keep_record(records, key.job_id + "/1", key.fence)});
    lock.reset();
    start_agent();
    ASSERT_TRUE(eventually([&] { return agent->counts().adopted == 1; }));
    ASSERT_TRUE(trains(key.job_id));
    say_enough();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_EQ(agent->counts().started, 0);
    EXPECT_EQ(attempt_of(key).members.at(0).pid, earlier.id.pid);
    expect_complete(key.job_id);
    reap(earlier);
}

// Goal: what one executor says and the database refuses stops that job and no other one.
// Method: a trigger stands for a constraint that the border does not know.
TEST_F(AgentTest, an_executor_whose_words_cannot_be_stored_fails_alone) {
    start_agent();
    const auto good = run_until_enough();
    const auto bad = place(submit_labelled({{"steps", "100000"}, {"child", "yes"}}), {2});
    database.sql(R"(
        create function refuse() returns trigger language plpgsql as $$
        begin
            raise exception 'not that' using errcode = '22003';
        end $$;
        create trigger refuse before insert on metric_chunk for each row
            when (new.job_id = ')" +
                 bad.job_id + "') execute function refuse();");
    agent->wake();
    ASSERT_TRUE(reaches(bad.job_id, failed));
    EXPECT_EQ(store::find_job(store, bad.job_id)->reason->code, "bad_frame");
    EXPECT_TRUE(is_gone(bad));
    ASSERT_TRUE(trains(good.job_id, points(good.job_id) + 3));
    say_enough();
    ASSERT_TRUE(reaches(good.job_id, succeeded));
}

TEST_F(AgentTest, an_executor_that_says_more_than_an_attempt_may_fails) {
    options.frames_bytes_max = 20'000;
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(reaches(key.job_id, failed));
    EXPECT_EQ(store::find_job(store, key.job_id)->reason->code, "frames_limit");
    EXPECT_GT(points(key.job_id), 0);
    EXPECT_TRUE(is_gone(key));
}

TEST_F(AgentTest, an_executor_that_writes_more_output_than_an_attempt_may_fails) {
    options.frames_bytes_max = 1 << 20;
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"output_kib_of_step", "100"}});
    ASSERT_TRUE(reaches(key.job_id, failed));
    const auto reason = store::find_job(store, key.job_id)->reason;
    EXPECT_EQ(reason->code, "frames_limit");
    EXPECT_NE(reason->message.find("output.log"), std::string::npos) << reason->message;
    EXPECT_TRUE(is_gone(key));
}

// Goal: an executor that lies in its run folder decides neither what the agent kills nor what it
// watches. Method: the test writes the lies while no agent runs.
TEST_F(AgentTest, a_run_folder_that_names_another_process_harms_nobody) {
    const RunningProcess innocent = spawn({.program = "/bin/sleep",
                                           .arguments = {"1000"},
                                           .folder = folder.path(),
                                           .output = folder.path() / "innocent.log",
                                           .result = {}});
    start_agent();
    const auto key = run_until_enough();
    ASSERT_TRUE(trains(key.job_id));
    for (const std::string& fence : {std::string(32, 'f'), key.fence}) {
        agent.reset();
        const std::int64_t before = points(key.job_id);
        write_file_aside(run_folder_of(key) / "process.json",
                         Json{{"pid", innocent.id.pid},
                              {"start_ticks", innocent.id.start_ticks},
                              {"fence", fence}}
                             .dump());
        start_agent();
        ASSERT_TRUE(trains(key.job_id, before + 1));
        EXPECT_TRUE(eventually([&] { return agent->counts().adopted == 1; }));
    }
    store::request_intent(store, key.job_id, Intent::kill, {"killed", ""});
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, cancelled));
    EXPECT_TRUE(open_process(innocent.id));
    EXPECT_TRUE(session_members(int(attempt_of(key).members.at(0).pid.value())).empty());
    signal_group(innocent, SIGKILL);
    EXPECT_TRUE(eventually([&] { return reap(innocent).has_value(); }));
}

TEST_F(AgentTest, an_executor_that_gives_its_lock_away_is_taken_over_all_the_same) {
    start_agent();
    const auto key = run_until_enough();
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    const auto run = run_folder_of(key);
    std::filesystem::remove(run / "lock");
    std::filesystem::create_directory(run / "lock");
    start_agent();
    ASSERT_TRUE(trains(key.job_id, points(key.job_id) + 1));
    EXPECT_TRUE(eventually([&] { return agent->counts().adopted == 1; }));
    say_enough();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_EQ(store::list_attempts(store, key.job_id).items.size(), 1U);
}

TEST_F(AgentTest, an_executor_whose_attempt_ended_while_no_agent_ran_is_killed) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(trains(key.job_id));
    agent.reset();
    store::finish_attempt(
        store, key,
        {.exit_kind = "lost", .message = {}, .job_state = queued, .reason = {}, .result = {}});
    EXPECT_FALSE(is_gone(key));
    start_agent();
    EXPECT_TRUE(eventually([&] { return is_gone(key); }));
    EXPECT_TRUE(eventually(
        [&] { return ProcessRecords(options.home / "processes", id_scope()).all().empty(); }));
}

TEST_F(AgentTest, a_fenced_executor_is_killed_and_writes_nothing_more) {
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(trains(key.job_id));
    // Another host's maintenance took the attempt away.
    store::finish_attempt(
        store, key,
        {.exit_kind = "lost", .message = {}, .job_state = queued, .reason = {}, .result = {}});
    const std::int64_t before = points(key.job_id);
    EXPECT_TRUE(eventually([&] { return is_gone(key); }));
    EXPECT_EQ(points(key.job_id), before);
    EXPECT_EQ(state_of(key.job_id), queued);
}

TEST_F(AgentTest, a_program_that_cannot_run_is_refused_at_once_and_a_lost_one_costs_a_restart) {
    options.executor = "/nonexistent/executor";
    EXPECT_THROW(start_agent(), Error);
    const auto copy = folder.path() / "executor";
    std::filesystem::copy_file(std::filesystem::path(SLIPWAY_BIN_DIR) / "fake_executor", copy);
    options.executor = copy;
    start_agent();
    std::filesystem::remove(copy);
    const auto key = run_job({});
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_NE(attempt_of(key).message.find("cannot start"), std::string::npos);
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(AgentTest, a_dataset_that_is_not_there_any_more_fails_the_job) {
    start_agent();
    std::filesystem::remove(folder.path() / "data" / "digits");
    const auto key = run_job({});
    ASSERT_TRUE(reaches(key.job_id, failed));
    EXPECT_EQ(store::find_job(store, key.job_id)->reason->code, "data_error");
}

TEST_F(AgentTest, leases_and_the_host_s_heartbeat_are_renewed) {
    options.lease = 500ms;
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"step_ms", "5"}});
    ASSERT_TRUE(trains(key.job_id));
    // The scheduler's own lease is longer than those of the agent, so it must be over with first.
    ASSERT_TRUE(eventually([&] {
        return database.sql("select max(expires_at) < now() + interval '5 s' from lease") == "t";
    }));
    const std::string first = database.sql("select max(expires_at) from lease");
    EXPECT_TRUE(
        eventually([&] { return database.sql("select max(expires_at) from lease") > first; }));
    EXPECT_LT(store::list_hosts(store).at(0).silent_for, 10s);
    store::request_intent(store, key.job_id, Intent::cancel, {.code = "cancelled", .message = {}});
    ASSERT_TRUE(reaches(key.job_id, cancelled));
}

// Method: triggers write down batches and renewals in their order, and make each batch so slow that
// the next frames are always there when it is stored.
TEST_F(AgentTest, leases_are_renewed_while_an_executor_says_more_than_the_database_takes) {
    database.sql(R"(
        create table work (place serial, what text);
        create function note() returns trigger language plpgsql as $$
        begin
            if tg_argv[0] = 'batch' then perform pg_sleep(0.05); end if;
            insert into work (what) values (tg_argv[0]);
            return null;
        end $$;
        create trigger batch after insert on metric_chunk
            for each statement execute function note('batch');
        create trigger renewal after update of expires_at on core_slot
            for each statement execute function note('renewal');)");
    options.renew_every = 1ms;
    start_agent();
    const auto key = run_job({{"steps", "100000"}});
    ASSERT_TRUE(eventually([&] { return count("work where what = 'batch'") >= 5; }, 60s));
    agent.reset();
    EXPECT_EQ(
        database.sql("select count(*) from (select what, lag(what) over (order by place) as before "
                     "from work) as each_work where what = 'batch' and before = 'batch'"),
        "0");
}

}    // namespace
}    // namespace slipway
