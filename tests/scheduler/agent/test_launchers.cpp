#include <gtest/gtest.h>

#include <atomic>

#include "scheduler/launcher/local_launcher.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

/// What a launcher on a real machine does once in a long while.
struct Faults {
    std::atomic<int> starts_that_fail{0};
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
    void kill() override { real_->kill(); }
    std::optional<int> collect_exit() override { return real_->collect_exit(); }
    bool is_cleared() override {
        ++faults_.looks;
        if (faults_.looks_that_fail-- > 0) throw Error{ErrorCode::exhausted, "no descriptor left"};
        return real_->is_cleared();
    }
    bool keeps_memory_limit() const override { return real_->keeps_memory_limit(); }
    std::int64_t read_memory_bytes() const override { return real_->read_memory_bytes(); }
    bool exceeded_memory() const override { return real_->exceeded_memory(); }

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
        return std::make_unique<FaultyProcess>(real_.launch(request), faults_);
    }
    std::unique_ptr<LaunchedProcess> adopt(const std::string& name,
                                           const ProcessId& id) const override {
        if (faults_.forgets) return nullptr;
        std::unique_ptr<LaunchedProcess> real = real_.adopt(name, id);
        return real ? std::make_unique<FaultyProcess>(std::move(real), faults_) : nullptr;
    }
    bool end_left(const ProcessId& id) const override { return real_.end_left(id); }
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
    EXPECT_EQ(attempt_of(key).message, "no process can be made");
    EXPECT_EQ(count("lease"), 0);
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

}    // namespace
}    // namespace slipway
