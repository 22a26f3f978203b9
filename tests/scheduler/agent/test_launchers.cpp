#include <gtest/gtest.h>

#include <atomic>

#include "scheduler/launcher/local_launcher.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

constexpr pid_t nobody = 1 << 30;    // above what the kernel gives

/// What a launcher on a real machine does once in a long while.
struct Faults {
    std::atomic<int> starts_that_fail{0};
    std::atomic<int> starts_that_fail_late{0};    // when the process has been recorded
    std::atomic<int> kills_that_reach_nobody{0};
    std::atomic<bool> loses_exits{false};
    std::atomic<bool> exceeded_memory{false};
    std::atomic<int> looks_that_fail{0};    // whether something of a process is left
    std::atomic<int> looks{0};
    std::atomic<bool> forgets{false};    // what was launched before the service was started again
};

class FaultyProcess final : public LaunchedProcess {
public:
    FaultyProcess(std::unique_ptr<LaunchedProcess> real, Faults& faults)
        : real_(std::move(real)), faults_(faults) {}

    ProcessId id() const override { return real_->id(); }
    int end_fd() const override { return real_->end_fd(); }
    void terminate() override { real_->terminate(); }
    void kill() override {
        if (faults_.kills_that_reach_nobody-- > 0) return;
        real_->kill();
    }
    std::optional<ProcessExit> collect_exit() override {
        const std::optional<ProcessExit> exit = real_->collect_exit();
        return faults_.loses_exits ? std::nullopt : exit;
    }
    bool is_cleared() override {
        ++faults_.looks;
        if (faults_.looks_that_fail-- > 0) throw Error{ErrorCode::exhausted, "no descriptor left"};
        return real_->is_cleared();
    }
    bool keeps_memory_limit() const override { return real_->keeps_memory_limit(); }
    std::int64_t read_memory_bytes() const override { return real_->read_memory_bytes(); }
    bool exceeded_memory() const override {
        return faults_.exceeded_memory || real_->exceeded_memory();
    }
    std::int64_t uncounted_memory_bytes() const override { return real_->uncounted_memory_bytes(); }
    std::int64_t count_host_memory_kills() const override {
        return real_->count_host_memory_kills();
    }

private:
    const std::unique_ptr<LaunchedProcess> real_;
    Faults& faults_;
};

/// The launcher of this machine, with faults that a test asks for.
class FaultyLauncher final : public Launcher {
public:
    explicit FaultyLauncher(Faults& faults) : faults_(faults) {}

    std::unique_ptr<LaunchedProcess> launch(const LaunchRequest& request) const override {
        if (faults_.starts_that_fail-- > 0)
            throw Error{ErrorCode::exhausted, "no process can be made"};
        if (faults_.starts_that_fail_late-- > 0) {
            request.process.before_start({.pid = nobody, .start_ticks = 1});
            throw Error{ErrorCode::unavailable, "the program cannot be run"};
        }
        return std::make_unique<FaultyProcess>(real_.launch(request), faults_);
    }
    std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                           const ProcessId& id) const override {
        if (faults_.forgets) return nullptr;
        std::unique_ptr<LaunchedProcess> real = real_.adopt(name, id);
        return real ? std::make_unique<FaultyProcess>(std::move(real), faults_) : nullptr;
    }
    bool end_left(const ProcessId& id) const override { return real_.end_left(id); }
    std::string id_scope() const override { return real_.id_scope(); }
    void remove_left(Instant now) const override { real_.remove_left(now); }

private:
    const LocalLauncher real_{LauncherOptions{}};
    Faults& faults_;
};

class Launchers : public AgentBench {
protected:
    Launchers() { options.launcher = std::make_shared<FaultyLauncher>(faults); }

    Faults faults;
};

TEST_F(Launchers, one_that_cannot_start_a_process_lets_the_job_run_again) {
    faults.starts_that_fail = 1;
    start_agent();
    const auto key = run_job({{"steps", "5"}});
    ASSERT_TRUE(reaches(key.job_id, JobState::queued));
    EXPECT_TRUE(attempt_of(key).message.ends_with(": no process can be made"))
        << attempt_of(key).message;
    EXPECT_EQ(count("lease"), 0);
    EXPECT_EQ(count("queue where not_before > now()"), 1) << "not at once";
    database.sql("update queue set not_before = null");
    const auto again = place(key.job_id);
    agent->wake();
    EXPECT_TRUE(reaches(key.job_id, JobState::succeeded));
    EXPECT_TRUE(attempt_of(again).members.at(0).pid);
}

// Goal: nobody is taken for gone because he could not be looked at.
TEST_F(Launchers, cores_stay_held_while_nobody_can_see_what_is_left) {
    faults.looks_that_fail = 1'000'000;
    start_agent();
    const auto key = run_job({{"steps", "5"}});
    ASSERT_TRUE(eventually([&] { return faults.looks > 3; }));
    EXPECT_EQ(count("lease"), 1);
    faults.looks_that_fail = 0;
    EXPECT_TRUE(reaches(key.job_id, JobState::succeeded));
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(Launchers, one_that_forgets_a_process_ends_it_and_the_job_runs_again) {
    start_agent();
    const auto key = run_job({{"steps", "1000000"}});
    ASSERT_TRUE(reaches(key.job_id, JobState::running));
    const ProcessId id = process_of(key)->id;
    agent.reset();
    faults.forgets = true;
    start_agent();
    EXPECT_TRUE(reaches(key.job_id, JobState::queued));
    EXPECT_TRUE(eventually([&] { return session_members(id.pid).empty(); }));
    EXPECT_EQ(count("lease"), 0);
}

TEST_F(Launchers, one_that_fails_after_the_process_was_recorded_leaves_no_record) {
    faults.starts_that_fail_late = 1;
    start_agent();
    const auto key = run_job({{"steps", "5"}});
    ASSERT_TRUE(reaches(key.job_id, JobState::queued));
    EXPECT_TRUE(attempt_of(key).message.ends_with(": the program cannot be run"))
        << attempt_of(key).message;
    EXPECT_EQ(attempt_of(key).members.at(0).pid, std::nullopt);
    EXPECT_EQ(count("lease"), 0);
    EXPECT_TRUE(eventually([&] {    // forgotten once the end is stored
        return ProcessRecords(options.home / "processes", id_scope()).all().empty();
    }));
}

// Goal: a kill that reaches nobody, as over a network, is repeated until the process is gone.
TEST_F(Launchers, one_whose_kill_is_lost_is_asked_again) {
    faults.kills_that_reach_nobody = 2;
    start_agent();
    const auto key = run_job({{"steps", "1000000"}});
    ASSERT_TRUE(trains(key.job_id));
    store::request_intent(store, key.job_id, Intent::kill, {"killed", "by a test"});
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, JobState::cancelled));
    EXPECT_LE(faults.kills_that_reach_nobody, -1) << "the third one reached it";
    EXPECT_TRUE(is_gone(key));
}

TEST_F(Launchers, one_that_does_not_know_how_a_process_ended_is_believed_about_the_end_alone) {
    faults.loses_exits = true;
    start_agent();
    const auto done = run_job({{"steps", "5"}});
    ASSERT_TRUE(reaches(done.job_id, JobState::succeeded)) << "its done frame says how";
    EXPECT_EQ(attempt_of(done).exit_status, std::nullopt);
    const auto crashed = run_job({{"steps", "20"}, {"crash_always", "3"}});
    ASSERT_TRUE(reaches(crashed.job_id, JobState::queued));
    EXPECT_EQ(attempt_of(crashed).exit_kind, "crashed");
    EXPECT_EQ(attempt_of(crashed).exit_status, std::nullopt);
}

TEST_F(Launchers, one_that_keeps_the_limit_of_memory_says_why_a_process_ended) {
    options.memory_bytes = std::int64_t{8} << 30;
    faults.exceeded_memory = true;
    start_agent();
    const auto key = run_job({{"steps", "20"}, {"crash_always", "3"}});
    ASSERT_TRUE(reaches(key.job_id, JobState::failed));
    EXPECT_EQ(store::find_job(store, key.job_id)->reason->code, "oom_host");
}

}    // namespace
}    // namespace slipway
