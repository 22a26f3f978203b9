// Goal: an executor above its memory is ended for good, by whatever of the machine counts it.
// Method: a real agent, and a fake executor that holds memory which RLIMIT_DATA does not count.

#include "scheduler/agent/memory_guard.h"

#include <gtest/gtest.h>

#include "scheduler/agent/attempt_memory.h"
#include "scheduler/launcher/local_process.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

class MemoryGuardTest : public AgentBench {};

/// One whose memory is as a test says.
struct FakeProcess final : LaunchedProcess {
    bool keeps = false, exceeded = false;
    std::int64_t host_kills = 0;

    ProcessId id() const override { return {}; }
    int end_fd() const override { return -1; }
    void terminate() override {}
    void kill() override {}
    std::optional<ProcessExit> collect_exit() override { return std::nullopt; }
    bool is_cleared() override { return true; }
    bool keeps_memory_limit() const override { return keeps; }
    std::int64_t read_memory_bytes() const override { return 0; }
    bool exceeded_memory() const override { return exceeded; }
    std::int64_t uncounted_memory_bytes() const override { return 100; }
    std::int64_t count_host_memory_kills() const override { return host_kills; }
};

TEST_F(MemoryGuardTest, an_executor_that_holds_more_than_its_memory_is_ended_for_good) {
    options.memory_bytes = 1 << 20;    // and what an executor itself takes, and what is not counted
    start_agent();
    const auto key = run_job({{"steps", "100000"}, {"hold_mib", "1100"}});
    ASSERT_TRUE(reaches(key.job_id, JobState::failed));
    EXPECT_TRUE(is_gone(key));
    const store::Job job = *store::find_job(store, key.job_id);
    EXPECT_EQ(job.reason->code, "oom_host");
    const std::int64_t limit = (1 << 20) / options.cores + executor_overhead_bytes;
    EXPECT_NE(job.reason->message.find(std::to_string(limit)), std::string::npos)
        << job.reason->message;
    EXPECT_EQ(job.restarts, 0);
    // Another one of the same size is within its own limit.
    options.memory_bytes = 0;
    agent.reset();
    start_agent();
    const auto other = run_job({{"hold_mib", "1100"}});
    EXPECT_TRUE(reaches(other.job_id, JobState::succeeded));
}

TEST(MemoryGuards, say_whose_memory_was_used_up) {
    FakeProcess process;
    MemoryGuard guard(process, 1000);
    guard.read_host(Tick{} + std::chrono::hours(1));
    EXPECT_FALSE(guard.end(EndCause::none, false));
    EXPECT_FALSE(guard.end(EndCause::none, true)) << "killed, and not for the host's memory";
    EXPECT_FALSE(guard.end(EndCause::cancel, false));
    EXPECT_FALSE(guard.end(EndCause::memory, false)->machine);
    process.host_kills = 1;
    EXPECT_FALSE(guard.end(EndCause::none, false)) << "it was another process";
    EXPECT_TRUE(guard.end(EndCause::none, true)->machine);
}

TEST(MemoryGuards, know_of_a_host_what_happened_lately) {
    FakeProcess process;
    MemoryGuard guard(process, 1000);
    const Tick begin = Tick{} + std::chrono::hours(1);
    guard.read_host(begin);
    process.host_kills = 1;
    guard.read_host(begin + std::chrono::seconds(11));
    EXPECT_TRUE(guard.end(EndCause::none, true)) << "eleven seconds ago";
    guard.read_host(begin + std::chrono::seconds(22));
    EXPECT_FALSE(guard.end(EndCause::none, true)) << "more than ten, before the last two readings";
    process.host_kills = 2;
    guard.read_host(begin + std::chrono::hours(1));
    EXPECT_FALSE(guard.end(EndCause::none, true)) << "nobody had looked for an hour";
}

TEST(MemoryGuards, believe_a_launcher_that_keeps_the_limit) {
    FakeProcess process;
    process.keeps = true;
    const MemoryGuard guard(process, 1000);
    EXPECT_FALSE(guard.reads());
    EXPECT_FALSE(guard.end(EndCause::none, false));
    process.exceeded = true;
    EXPECT_EQ(guard.end(EndCause::none, false)->limit_bytes, 1000);
}

TEST(LocalProcesses, count_the_kills_of_a_cgroup_since_they_began) {
    const TempFolder folder;
    folder.write("memory.events", "oom 2\noom_kill 2\n");
    const LocalProcess process(RunningProcess{}, folder.path(), 0);
    EXPECT_TRUE(process.keeps_memory_limit());
    EXPECT_FALSE(process.exceeded_memory());
    folder.write("memory.events", "oom 2\noom_kill 3\n");
    EXPECT_TRUE(process.exceeded_memory());
}

}    // namespace
}    // namespace slipway
