// Goal: what goes ahead and stands back is every thread of a program and of what it started; who
// may not put programs ahead leaves them where they are.
#include "scheduler/launcher/niceness.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "scheduler/launcher/local_process.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

constexpr int steps_behind = 5;

using Capabilities = std::array<__user_cap_data_struct, 2>;

/// Of this thread.
Capabilities own_capabilities() {
    Capabilities sets{};
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    EXPECT_EQ(syscall(SYS_capget, &header, sets.data()), 0);
    return sets;
}

bool may_go_ahead() {
    return (own_capabilities()[0].effective & (1U << CAP_SYS_NICE)) != 0;
}

/// This thread may make no program less nice from now on.
void give_up_niceness() {
    Capabilities sets = own_capabilities();
    sets[0].effective &= ~(1U << CAP_SYS_NICE);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    ASSERT_EQ(syscall(SYS_capset, &header, sets.data()), 0);
}

/// A program with a process beside it.
class Program {
public:
    Program()
        : process_(spawn({.program = "/bin/sh",
                          .arguments = {"-c", "sleep 1000 & sleep 1000"},
                          .folder = folder_.path(),
                          .output = folder_.path() / "output.log",
                          .result = {}},
                         {.niceness = steps_behind}),
                   {}, steps_behind) {}
    ~Program() {
        process_.kill();
        eventually([this] { return process_.collect_exit() && process_.is_cleared(); });
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    bool is_complete() const { return session_members(process_.id().pid).size() == 3; }
    LocalProcess& process() { return process_; }
    /// Of all its processes, how far they stand behind us.
    std::vector<int> steps() const {
        std::vector<int> found;
        for (const pid_t pid : session_members(process_.id().pid))
            found.push_back(getpriority(PRIO_PROCESS, id_t(pid)) - getpriority(PRIO_PROCESS, 0));
        return found;
    }

private:
    const TempFolder folder_;
    LocalProcess process_;
};

TEST(Niceness, a_program_goes_ahead_with_all_that_it_started_and_stands_back) {
    if (!may_go_ahead()) GTEST_SKIP() << "needs CAP_SYS_NICE";
    Program program;
    ASSERT_TRUE(eventually([&] { return program.is_complete(); }));
    EXPECT_EQ(program.steps(), std::vector<int>(3, steps_behind));
    program.process().go_ahead();
    EXPECT_EQ(program.steps(), std::vector<int>(3, 0));
    program.process().stand_back();
    EXPECT_EQ(program.steps(), std::vector<int>(3, steps_behind));
    program.process().stand_back();
    EXPECT_EQ(program.steps(), std::vector<int>(3, steps_behind));
}

TEST(Niceness, where_sessions_are_grouped_the_group_goes_along) {
    Program program;
    ASSERT_TRUE(eventually([&] { return program.is_complete(); }));
    const std::string file = "/proc/" + std::to_string(program.process().id().pid) + "/autogroup";
    std::string said;
    if (!may_go_ahead() || geteuid() != 0 || !std::getline(std::ifstream(file), said))
        GTEST_SKIP() << "needs root and such groups";
    program.process().go_ahead();
    std::getline(std::ifstream(file), said);
    const int own = getpriority(PRIO_PROCESS, 0);
    EXPECT_TRUE(said.ends_with("nice " + std::to_string(own))) << said;
    program.process().stand_back();
    std::getline(std::ifstream(file), said);
    EXPECT_TRUE(said.ends_with("nice " + std::to_string(niceness_behind_us(steps_behind)))) << said;
}

TEST(Niceness, without_the_privilege_a_program_stays_where_it_is) {
    Program program;
    ASSERT_TRUE(eventually([&] { return program.is_complete(); }));
    std::thread([&] {
        give_up_niceness();
        program.process().go_ahead();
        EXPECT_EQ(program.steps(), std::vector<int>(3, steps_behind));
        program.process().stand_back();
        EXPECT_EQ(program.steps(), std::vector<int>(3, steps_behind));
    }).join();
}

TEST(Niceness, of_a_group_that_is_gone_is_nobody_s) {
    set_group_niceness(0x3fffffff, 19);    // more than the kernel gives
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), niceness_behind_us(0));
}

TEST(Niceness, ends_at_19) {
    EXPECT_EQ(niceness_behind_us(40), 19);
}

}    // namespace
}    // namespace slipway
