#include "scheduler/launcher/local_process.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// A process of its own session, gone with the test.
class Sleeper {
public:
    explicit Sleeper(const TempFolder& folder, const std::string& script = "sleep 1000")
        : process_(spawn({.program = "/bin/sh",
                          .arguments = {"-c", script},
                          .folder = folder.path(),
                          .output = folder.path() / "output.log",
                          .result = {}})) {}
    ~Sleeper() {
        signal_group(process_, SIGKILL);
        eventually([this] { return reap(process_) || !is_alive(); });
    }
    Sleeper(const Sleeper&) = delete;
    Sleeper& operator=(const Sleeper&) = delete;

    ProcessId id() const { return process_.id; }
    bool is_alive() const { return open_process(process_.id).has_value(); }

private:
    RunningProcess process_;
};

TEST(EndSession, the_process_goes_with_everything_it_started) {
    const TempFolder folder;
    const Sleeper sleeper(folder, "sleep 1000 & sleep 1000");
    ASSERT_TRUE(eventually([&] { return session_members(sleeper.id().pid).size() == 3; }));
    EXPECT_FALSE(end_session(sleeper.id())) << "it was there";
    EXPECT_TRUE(eventually([&] { return end_session(sleeper.id()); }));
    EXPECT_TRUE(session_members(sleeper.id().pid).empty());
}

TEST(EndSession, a_pid_that_is_another_process_s_now_is_left_alone) {
    const TempFolder folder;
    const Sleeper innocent(folder);
    ProcessId id = innocent.id();
    --id.start_ticks;
    EXPECT_TRUE(end_session(id));
    for (const pid_t pid : {0, 1, -1})
        EXPECT_TRUE(end_session({.pid = pid, .start_ticks = 0}));
    // A job of Slurm of that number: its id is negative in the other part.
    EXPECT_TRUE(end_session({.pid = innocent.id().pid, .start_ticks = -17}));
    EXPECT_TRUE(innocent.is_alive());
}

// Goal: once it is reaped its number may be somebody else's, who is left alone.
TEST(LocalProcess, is_cleared_when_its_pid_is_another_process_s) {
    const TempFolder folder;
    const Sleeper innocent(folder);
    ProcessId id = innocent.id();
    --id.start_ticks;
    LocalProcess process(RunningProcess{.id = id, .pidfd = {}, .child = false}, {}, 0);
    EXPECT_TRUE(process.is_cleared());
    EXPECT_TRUE(innocent.is_alive());
}

}    // namespace
}    // namespace slipway
