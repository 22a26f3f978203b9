// Goal: an executor that stays takes one attempt after the other, and whatever ends an attempt in
// another way than well ends the executor and nothing else.
// Method: the real agent, store and launcher with slipway-confine; fake executors that stay.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "scheduler/launcher/warm_launcher.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using enum JobState;

constexpr uid_t executor_users = 880000;

class WarmExecutors : public AgentBench {
protected:
    void SetUp() override {
        // As root executors have users of their own, who must reach what is theirs.
        fs::permissions(folder.path(), fs::perms(0755));
        start_again();
        AgentBench::SetUp();
        options.spare_run_folders = 2;
    }

    /// A launcher that knows nothing of what the one before it did: the service was started again.
    void start_again() {
        local_ = {};
        if (confined) local_.confiner = fs::path(SLIPWAY_BIN_DIR) / "slipway-confine";
        if (confined && geteuid() == 0) local_.first_user = executor_users;
        launcher_ = std::make_shared<WarmLauncher>(
            local_, WarmOptions{.folder = folder.path() / "workers", .idle_max = idle_max},
            system_clock());
        options.launcher = launcher_;
    }
    void forget_launcher() {
        agent.reset();
        launcher_.reset();
        options.launcher.reset();
    }

    pid_t pid_of(const store::AttemptKey& key) const { return process_of(key)->id.pid; }
    /// A process that nobody has waited for yet lives, but runs no longer.
    bool runs(pid_t pid) const {
        std::string stat;
        std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), stat);
        return !stat.empty() && stat.find(") Z ") == std::string::npos;
    }
    bool lives(pid_t pid) const { return process_start_ticks(pid).has_value(); }
    std::size_t idle_count() const { return launcher_->pool().idle_count(); }
    bool has_workers() const {
        std::error_code absent;
        return fs::directory_iterator(folder.path() / "workers", absent) !=
               fs::directory_iterator();
    }

    /// A job that ends well, in a worker that waits afterwards.
    store::AttemptKey run_well(const Labels& more = {}) {
        Labels labels{{"steps", "5"}};
        labels.insert(more.begin(), more.end());
        const auto key = run_job(labels);
        EXPECT_TRUE(reaches(key.job_id, succeeded));
        EXPECT_TRUE(eventually([&] { return idle_count() > 0; }));
        return key;
    }
    store::AttemptKey run_until_enough() {
        const auto key =
            run_job({{"steps", "100000"}, {"step_ms", "3"}, {"until", enough_.string()}});
        EXPECT_TRUE(trains(key.job_id));
        return key;
    }
    std::string enough() const { return enough_.string(); }
    void say_enough() const { std::ofstream(enough_).close(); }

    std::chrono::milliseconds idle_max{60000};
    bool confined = true;

private:
    LauncherOptions local_;
    std::shared_ptr<WarmLauncher> launcher_;
    const fs::path enough_ = folder.path() / "enough";
};

TEST_F(WarmExecutors, take_one_attempt_after_the_other) {
    start_agent();
    const auto first = run_well();
    const auto second = run_well();
    const auto third = run_well();
    EXPECT_EQ(pid_of(first), pid_of(second));
    EXPECT_EQ(pid_of(second), pid_of(third));
    for (const auto& key : {first, second, third}) {
        expect_complete(key.job_id, 5);
        EXPECT_EQ(attempt_of(key).exit_status, 0);
        EXPECT_EQ(attempt_of(key).members.at(0).pid, pid_of(key));
    }
    EXPECT_TRUE(ProcessRecords(folder.path() / "processes", id_scope()).all().empty());
}

// Goal: an attempt in an executor that waited goes ahead of others until its first step is known,
// or for a moment; one that is started for it stands back from the beginning.
// Not confined: an executor may not ask how nice it is.
TEST_F(WarmExecutors, go_ahead_until_their_first_step) {
    confined = false;
    start_again();
    const int own = getpriority(PRIO_PROCESS, 0);
    const int behind = std::min(own + LauncherOptions{}.niceness, 19);
    const auto said = [this](const store::AttemptKey& key, int niceness) {
        return read_file(run_folder_of(key) / "frames.ndjson")
                   .find("\"niceness " + std::to_string(niceness) + "\"") != std::string::npos;
    };
    // With every thread: one of them serves the socket.
    const auto stands_back = [this, behind](const store::AttemptKey& key) {
        const fs::path threads = "/proc/" + std::to_string(pid_of(key)) + "/task";
        return eventually([&] {
            return std::all_of(
                fs::directory_iterator(threads), fs::directory_iterator(), [&](const auto& each) {
                    const auto thread = id_t(std::stoi(each.path().filename().string()));
                    return getpriority(PRIO_PROCESS, thread) == behind;
                });
        });
    };
    // Whether we may: asked of the kernel, with a process that is nobody else's.
    const pid_t asked = fork();
    if (asked == 0) {
        setpriority(PRIO_PROCESS, 0, behind);
        _exit(setpriority(PRIO_PROCESS, 0, own) == 0 ? 0 : 1);
    }
    int refused = 0;
    ASSERT_EQ(waitpid(asked, &refused, 0), asked);
    start_agent();
    const auto first = run_well({{"nice", "yes"}});
    EXPECT_TRUE(said(first, behind));
    const auto second =
        run_job({{"nice", "yes"}, {"steps", "100000"}, {"step_ms", "3"}, {"until", enough()}});
    ASSERT_TRUE(trains(second.job_id));
    EXPECT_TRUE(said(second, refused == 0 ? own : behind));
    EXPECT_TRUE(stands_back(second));
    say_enough();
    ASSERT_TRUE(reaches(second.job_id, succeeded));
    ASSERT_TRUE(eventually([&] { return idle_count() > 0; }));
    // A first step that takes long is not waited for.
    const auto slow = run_job({{"nice", "yes"}, {"steps", "1"}, {"step_ms", "600000"}});
    ASSERT_TRUE(eventually([&] { return said(slow, refused == 0 ? own : behind); }));
    EXPECT_TRUE(stands_back(slow));
    EXPECT_EQ(read_file(run_folder_of(slow) / "frames.ndjson").find("metric"), std::string::npos);
    EXPECT_EQ(pid_of(first), pid_of(slow));
}

TEST_F(WarmExecutors, never_cross_projects) {
    start_agent();
    const auto first = run_well();
    store::NewJob job = new_job();
    job.project = "another";
    job.spec = Json{{"labels", Labels{{"steps", "5"}}}}.dump();
    job.dataset_id = store::find_dataset(store, "default", "digits")->id;
    const auto second = place(submit(job));
    agent->wake();
    ASSERT_TRUE(reaches(second.job_id, succeeded));
    EXPECT_NE(pid_of(first), pid_of(second));
}

// Not confined: sanitizers reserve more addresses than a limit leaves.
TEST_F(WarmExecutors, with_another_limit_of_memory_are_others) {
    confined = false;
    start_again();
    options.memory_bytes = std::int64_t{8} << 30;
    start_agent();
    const auto first = run_well();
    store::NewJob job = new_job();
    job.spec = Json{{"labels", Labels{{"steps", "5"}}},
                    {"accelerator", {{"memory_bytes", std::int64_t{256} << 20}}}}
                   .dump();
    job.dataset_id = store::find_dataset(store, "default", "digits")->id;
    const auto second = place(submit(job));
    agent->wake();
    ASSERT_TRUE(reaches(second.job_id, succeeded));
    EXPECT_NE(pid_of(first), pid_of(second));
}

TEST_F(WarmExecutors, of_another_build_are_never_used) {
    const fs::path program = folder.path() / "executor";
    fs::copy_file(options.executor, program);
    options.executor = program;
    start_agent();
    const auto first = run_well();
    fs::copy_file(program, folder.path() / "new");
    fs::rename(folder.path() / "new", program);
    const auto second = run_well();
    EXPECT_NE(pid_of(first), pid_of(second));
}

// Goal: what an attempt leaves is put in order before the next one starts.
// Method: of a job that saves nothing, whose executor had waited, no folder of checkpoints stays.
TEST_F(WarmExecutors, have_given_their_folders_back_when_the_next_attempt_comes) {
    start_agent();
    const auto first = run_well();
    const auto second = run_well({{"save_every", "100"}});
    ASSERT_EQ(pid_of(first), pid_of(second));
    EXPECT_TRUE(eventually([&] {
        return !fs::exists(options.artifacts().locate(Artifact::checkpoint, second.job_id));
    }));
    EXPECT_TRUE(fs::exists(run_folder_of(second) / "frames.ndjson"));
    EXPECT_TRUE(eventually([&] {
        std::error_code absent;
        const auto spares = fs::directory_iterator(folder.path() / "spare-runs/host-1", absent);
        return std::distance(spares, fs::directory_iterator()) == 2;
    }));
    const auto third = run_well({{"save_every", "2"}});
    EXPECT_EQ(pid_of(third), pid_of(first));
    EXPECT_EQ(read_file(options.artifacts().locate(Artifact::checkpoint, third.job_id) /
                        "step_000002_attempt_1/state.json"),
              "2");
}

// Goal: an attempt writes nothing of those that its process ran before.
TEST_F(WarmExecutors, cannot_write_what_an_earlier_attempt_could) {
    start_agent();
    const auto first = run_well({{"save_every", "2"}});
    const fs::path checkpoints = options.artifacts().locate(Artifact::checkpoint, first.job_id);
    for (const fs::path& place :
         {run_folder_of(first), checkpoints, checkpoints / "step_000002_attempt_1"}) {
        ASSERT_TRUE(fs::is_directory(place)) << place;
        const auto second = run_well({{"touch", (place / "touched").string()}});
        EXPECT_EQ(pid_of(first), pid_of(second)) << "the same process";
    }
    EXPECT_TRUE(fs::exists(run_folder_of(first) / "frames.ndjson"));
    EXPECT_EQ(read_file(checkpoints / "step_000002_attempt_1" / "state.json"), "2");
    // That the test can fail: what the project's jobs share may be written.
    const fs::path shared = options.artifacts().locate(Artifact::compile_cache, "1") / "touched";
    const auto able = run_job({{"steps", "5"}, {"touch", shared.string()}});
    EXPECT_TRUE(reaches(able.job_id, failed));
}

TEST_F(WarmExecutors, that_crash_end_one_attempt_and_themselves) {
    start_agent();
    const auto first = run_well();
    const auto second = run_job({{"steps", "20"}, {"crash_at", "7"}});
    ASSERT_TRUE(reaches(second.job_id, queued));
    EXPECT_EQ(attempt_of(second).exit_kind, "crashed");
    EXPECT_EQ(attempt_of(second).exit_status, 128 + SIGKILL);
    EXPECT_EQ(pid_of(first), pid_of(second));
    EXPECT_TRUE(eventually([&] { return !lives(pid_of(first)); }));
    database.sql("update queue set not_before = null");
    const auto again = place(second.job_id);
    agent->wake();
    ASSERT_TRUE(reaches(second.job_id, succeeded));
    EXPECT_NE(pid_of(again), pid_of(first));
}

TEST_F(WarmExecutors, end_with_an_attempt_that_failed) {
    start_agent();
    const auto first = run_well();
    const auto second = run_job({{"steps", "3"}, {"fail", "nan_loss"}});
    ASSERT_TRUE(reaches(second.job_id, failed));
    EXPECT_EQ(pid_of(first), pid_of(second));
    EXPECT_TRUE(eventually([&] { return !lives(pid_of(first)) && !has_workers(); }));
    EXPECT_NE(pid_of(run_well()), pid_of(first));
}

TEST_F(WarmExecutors, go_on_after_a_failure_that_left_nothing) {
    start_agent();
    const auto first = run_well();
    const auto second = run_job({{"steps", "3"}, {"fail", "nan_loss"}, {"leaves_nothing", "yes"}});
    ASSERT_TRUE(reaches(second.job_id, failed));
    EXPECT_EQ(store::find_job(store, second.job_id)->reason->code, "nan_loss");
    ASSERT_TRUE(eventually([&] { return idle_count() == 1; }));
    EXPECT_EQ(pid_of(run_well()), pid_of(first));
    EXPECT_EQ(pid_of(second), pid_of(first));
}

TEST_F(WarmExecutors, of_a_killed_job_are_gone_and_those_of_a_cancelled_one_go_on) {
    start_agent();
    const auto first = run_until_enough();
    store::request_intent(store, first.job_id, Intent::cancel, {"cancelled", "by a test"});
    agent->wake();
    ASSERT_TRUE(reaches(first.job_id, cancelled));
    ASSERT_TRUE(eventually([&] { return idle_count() == 1; }));
    const auto second = run_until_enough();
    EXPECT_EQ(pid_of(first), pid_of(second));
    store::request_intent(store, second.job_id, Intent::kill, {"killed", "by a test"});
    agent->wake();
    ASSERT_TRUE(reaches(second.job_id, cancelled));
    EXPECT_TRUE(eventually([&] { return !lives(pid_of(second)) && !has_workers(); }));
    EXPECT_EQ(idle_count(), 0U);
}

TEST_F(WarmExecutors, that_died_while_they_waited_are_not_used) {
    start_agent();
    const auto first = run_well();
    ::kill(pid_of(first), SIGKILL);
    ASSERT_TRUE(eventually([&] { return !runs(pid_of(first)); }));
    const auto second = run_well();
    EXPECT_NE(pid_of(first), pid_of(second));
    EXPECT_EQ(store::find_job(store, second.job_id)->attempts, 1);
}

// Method: a stopped worker is given an attempt and is killed before it can know of it.
TEST_F(WarmExecutors, that_die_before_they_hear_of_an_attempt_cost_it_nothing) {
    start_agent();
    const pid_t first = pid_of(run_well());
    ASSERT_EQ(kill(first, SIGSTOP), 0);
    const auto key = run_job({{"steps", "5"}});
    ASSERT_TRUE(eventually([&] { return agent->counts().started == 2; })) << "given to it";
    EXPECT_EQ(idle_count(), 0U);
    ASSERT_EQ(kill(first, SIGKILL), 0);
    ASSERT_TRUE(reaches(key.job_id, queued));
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 0);
    const auto again = place(key.job_id, {1});
    EXPECT_EQ(again.attempt, 2);
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_EQ(store::find_job(store, key.job_id)->restarts, 0);
    EXPECT_NE(pid_of(again), first);
}

TEST_F(WarmExecutors, that_wait_too_long_are_ended) {
    idle_max = 50ms;
    start_again();
    start_agent();
    const auto key = run_job({{"steps", "5"}});
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_TRUE(eventually([&] { return !lives(pid_of(key)) && !has_workers(); }));
}

// Goal: a service that is gone leaves no process that waits for it.
TEST_F(WarmExecutors, end_when_the_service_is_gone) {
    start_agent();
    const auto key = run_well();
    forget_launcher();
    EXPECT_TRUE(eventually([&] { return is_gone(key); }));
}

// Goal: one that cannot hear that the service is gone is found by the next one.
TEST_F(WarmExecutors, that_are_stopped_when_the_service_ends_are_ended_by_the_next_one) {
    start_agent();
    const auto key = run_well();
    ::kill(pid_of(key), SIGSTOP);
    forget_launcher();
    EXPECT_TRUE(lives(pid_of(key)));
    start_again();
    start_agent();
    EXPECT_TRUE(eventually([&] { return is_gone(key) && !has_workers(); }));
}

TEST_F(WarmExecutors, are_taken_over_in_their_attempt_and_end_with_it) {
    start_agent();
    const auto first = run_well();
    const auto second = run_until_enough();
    ASSERT_EQ(pid_of(first), pid_of(second));
    forget_launcher();
    start_again();
    start_agent();
    ASSERT_TRUE(eventually([&] { return agent->counts().adopted == 1; }));
    EXPECT_TRUE(trains(second.job_id, points(second.job_id) + 10));
    say_enough();
    ASSERT_TRUE(reaches(second.job_id, succeeded));
    EXPECT_EQ(store::find_job(store, second.job_id)->attempts, 1);
    EXPECT_TRUE(is_gone(second));
    EXPECT_NE(pid_of(run_well()), pid_of(first));
}

TEST_F(WarmExecutors, that_left_processes_behind_are_not_used) {
    confined = false;
    start_again();
    start_agent();
    const auto first = run_job({{"steps", "3"}, {"child", "yes"}});
    ASSERT_TRUE(reaches(first.job_id, succeeded));
    EXPECT_TRUE(is_gone(first)) << "its cores are free";
    const auto second = run_well();
    EXPECT_NE(pid_of(first), pid_of(second));
}

// Goal: no more processes than cores, whatever jobs they wait for.
TEST_F(WarmExecutors, give_way_to_others) {
    start_agent();
    for (int project = 0; project < 10; ++project) {
        store::NewJob job = new_job();
        job.project = "project_" + std::to_string(project);
        job.spec = Json{{"labels", Labels{{"steps", "1"}}}}.dump();
        job.dataset_id = store::find_dataset(store, "default", "digits")->id;
        const auto key = place(submit(job));
        agent->wake();
        ASSERT_TRUE(reaches(key.job_id, succeeded));
    }
    EXPECT_TRUE(eventually([&] { return idle_count() == 8; }));
}

}    // namespace
}    // namespace slipway
