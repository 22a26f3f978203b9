#include "scheduler/launcher/process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "api/base/error.h"
#include "api/protocol/slice_memory.h"
#include "scheduler/agent/run_folder.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

ProgramStart shell(const TempFolder& folder, const std::string& script) {
    return {.program = "/bin/sh",
            .arguments = {"-c", script},
            .folder = folder.path(),
            .output = folder.path() / "output.log",
            .result = {}};
}

/// Ends what a test started, whatever the test did.
struct Group {
    explicit Group(RunningProcess started) : process(std::move(started)) {}
    ~Group() {
        signal_group(process, SIGKILL);
        eventually([this] { return reap(process).has_value(); });
    }
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;

    RunningProcess process;
};

TEST(Process, output_folder_and_exit_code_are_as_asked) {
    const TempFolder folder;
    const RunningProcess process = spawn(shell(folder, "pwd; echo bad >&2; exit 3"));
    std::optional<int> status;
    ASSERT_TRUE(eventually([&] { return (status = reap(process)).has_value(); }));
    EXPECT_EQ(*status, 3);
    EXPECT_EQ(read_file(folder.path() / "output.log"),
              std::filesystem::canonical(folder.path()).string() + "\nbad\n");
}

TEST(Process, a_result_file_gets_stdout_alone) {
    const TempFolder folder;
    ProgramStart request = shell(folder, "echo report; echo log >&2");
    request.result = folder.path() / "result";
    const RunningProcess process = spawn(request);
    ASSERT_TRUE(eventually([&] { return reap(process).has_value(); }));
    EXPECT_EQ(read_file(request.result), "report\n");
    EXPECT_EQ(read_file(request.output), "log\n");
}

TEST(Process, it_leads_its_own_session_and_gets_neither_secrets_nor_descriptors) {
    const TempFolder folder;
    setenv("SLIPWAY_TEST_SECRET", "canary", 1);
    const RunningProcess process = spawn(
        shell(folder, "ps -o sid= -p $$ | tr -d ' '; echo $$; env; ls /proc/self/fd | wc -l"));
    unsetenv("SLIPWAY_TEST_SECRET");
    ASSERT_TRUE(eventually([&] { return reap(process).has_value(); }));
    const std::string said = read_file(folder.path() / "output.log");
    const std::string pid = std::to_string(process.id.pid);
    EXPECT_TRUE(said.starts_with(pid + "\n" + pid + "\n")) << said;
    EXPECT_EQ(said.find("canary"), std::string::npos);
    EXPECT_TRUE(said.ends_with("\n4\n")) << "0, 1, 2 and the listing's own: " << said;
}

TEST(Process, it_inherits_the_memory_of_its_slice_and_learns_where) {
    const TempFolder folder;
    const UniqueFd memory = make_slice_memory(2);
    ASSERT_EQ(pwrite(memory.get(), "shared", 6, 0), 6);
    ProgramStart request =
        shell(folder, "head -c 6 /proc/self/fd/$SLIPWAY_SLICE_MEMORY; ls /proc/self/fd | wc -l");
    request.slice_memory_fd = memory.get();
    const RunningProcess process = spawn(request);
    ASSERT_TRUE(eventually([&] { return reap(process).has_value(); }));
    const std::string text = read_file(folder.path() / "output.log");
    EXPECT_EQ(text, "shared5\n") << "0, 1, 2, the listing's own and the memory";
}

TEST(Process, it_stands_behind_others_when_cpus_are_scarce) {
    const TempFolder folder;
    const RunningProcess process = spawn(
        shell(folder, "ps -o ni= -p $$ | tr -d ' '; cat /proc/self/autogroup"), {.niceness = 5});
    ASSERT_TRUE(eventually([&] { return reap(process).has_value(); }));
    const std::string said = read_file(folder.path() / "output.log");
    const int own = getpriority(PRIO_PROCESS, 0);
    EXPECT_TRUE(said.starts_with(std::to_string(std::min(own + 5, 19)) + "\n")) << said;
    // The kernel lets others than root change groups ten times a second at most, all together.
    if (geteuid() == 0 && said.find("autogroup") != std::string::npos) {
        EXPECT_NE(said.find("nice " + std::to_string(std::min(own + 5, 19))), std::string::npos)
            << said;
    }
}

TEST(Process, a_signal_is_128_and_more) {
    const TempFolder folder;
    const RunningProcess process = spawn(shell(folder, "kill -9 $$"));
    std::optional<int> status;
    ASSERT_TRUE(eventually([&] { return (status = reap(process)).has_value(); }));
    EXPECT_EQ(*status, 128 + 9);
}

TEST(Process, the_whole_group_is_found_and_ended) {
    const TempFolder folder;
    Group group(spawn(shell(folder, "sleep 1000 & sleep 1000 & sleep 1000")));
    const pid_t leader = group.process.id.pid;
    ASSERT_TRUE(eventually([&] { return session_members(leader).size() == 4; }));
    signal_group(group.process, SIGKILL);
    EXPECT_TRUE(eventually([&] { return session_members(leader).empty(); }));
}

TEST(Process, another_incarnation_finds_it_by_pid_and_start_time) {
    const TempFolder folder;
    Group group(spawn(shell(folder, "sleep 1000")));
    const ProcessId id = group.process.id;
    EXPECT_GT(id.start_ticks, 0);
    const auto found = open_process(id);
    ASSERT_TRUE(found);
    EXPECT_FALSE(found->child);
    EXPECT_FALSE(open_process({.pid = id.pid, .start_ticks = id.start_ticks + 1}));
    EXPECT_FALSE(open_process({.pid = 0, .start_ticks = 0}));
    EXPECT_FALSE(reap(*found)) << "somebody else's child";
    signal_group(group.process, SIGKILL);
    EXPECT_TRUE(eventually([&] { return !open_process(id); }));
}

TEST(Process, a_lock_lives_as_long_as_the_process) {
    const TempFolder folder;
    auto lock = lock_run_folder(folder.path());
    ProgramStart request = shell(folder, "sleep 1000");
    request.lock_fd = lock->get();
    const Group group(spawn(request));
    lock.reset();
    EXPECT_FALSE(lock_run_folder(folder.path())) << "the process holds it";
    signal_group(group.process, SIGKILL);
    EXPECT_TRUE(eventually([&] { return lock_run_folder(folder.path()).has_value(); }));
}

TEST(Process, who_it_is_can_be_kept_before_its_program_runs) {
    const TempFolder folder;
    ProgramStart request = shell(folder, "touch began");
    ProcessId kept;
    request.before_start = [&](const ProcessId& id) {
        kept = id;
        EXPECT_TRUE(open_process(id));
        EXPECT_FALSE(std::filesystem::exists(folder.path() / "began"));
    };
    const RunningProcess process = spawn(request);
    ASSERT_TRUE(eventually([&] { return reap(process).has_value(); }));
    EXPECT_EQ(kept, process.id);
    EXPECT_TRUE(std::filesystem::exists(folder.path() / "began"));
}

TEST(Process, a_program_whose_process_cannot_be_kept_never_runs) {
    const TempFolder folder;
    ProgramStart request = shell(folder, "touch began");
    ProcessId kept;
    request.before_start = [&](const ProcessId& id) {
        kept = id;
        throw Error{ErrorCode::exhausted, "the disk is full"};
    };
    EXPECT_THROW(spawn(request), Error);
    EXPECT_FALSE(open_process(kept));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "began"));
}

// Goal: what an earlier process left in place of its output leads the next one nowhere. As root it
// once would have emptied whatever a link named.
TEST(Process, output_goes_through_no_link_and_into_nothing_but_a_file) {
    const TempFolder folder;
    const auto precious = folder.write("precious", "kept");
    const auto place = folder.path() / "place";
    const auto expect_refused = [&] {
        ProgramStart request = shell(folder, "echo report; echo log >&2");
        request.result = place;
        EXPECT_THROW(spawn(request), Error);
        request = shell(folder, "echo log");
        request.output = place;
        EXPECT_THROW(spawn(request), Error);
        std::filesystem::remove(place);
    };
    std::filesystem::create_symlink(precious, place);
    expect_refused();
    EXPECT_EQ(read_file(precious), "kept");
    ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
    expect_refused();
    std::filesystem::create_directory(place);
    expect_refused();
}

/// At most `free` descriptors more than are open, until the end of the scope.
struct FewDescriptors {
    explicit FewDescriptors(int free) {
        // A sanitizer looks at each type of object once, through a pipe: now.
        ProgramStart absent{.program = "/absent",
                            .arguments = {},
                            .folder = "/",
                            .output = "/dev/null",
                            .result = {}};
        EXPECT_THROW(spawn(absent), Error);
        EXPECT_FALSE(session_members(getpid()).size() > 1000);
        getrlimit(RLIMIT_NOFILE, &before);
        // The lowest free numbers are taken first; a limit is a number, not a count.
        for (int fd = open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0;
             fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) {
            taken.emplace_back(fd);
            if (fd < 200) continue;
            break;
        }
        const rlimit few{rlim_t(taken.back().get()) + 1 + rlim_t(free), before.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

    rlimit before{};
    std::vector<UniqueFd> taken;
};

TEST(Process, without_descriptors_a_start_fails_and_leaves_nothing) {
    const TempFolder folder;
    bool started = false;
    for (int free = 0; free < 20 && !started; ++free) {
        const FewDescriptors few(free);
        try {
            const RunningProcess process = spawn(shell(folder, "true"));
            eventually([&] { return reap(process).has_value(); });
            started = true;
        } catch (const Error& error) {
            EXPECT_NE(std::string(error.what()).find("open files"), std::string::npos) << free;
        }
        EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
    }
    EXPECT_TRUE(started);
}

TEST(Process, without_descriptors_nobody_is_taken_for_dead) {
    const TempFolder folder;
    const Group group(spawn(shell(folder, "sleep 1000")));
    for (int free = 0; free < 2; ++free) {
        const FewDescriptors few(free);
        EXPECT_THROW(open_process(group.process.id), Error) << free;
        EXPECT_THROW(session_members(group.process.id.pid), Error) << free;
    }
    EXPECT_TRUE(open_process(group.process.id));
}

TEST(Process, a_program_that_is_not_there_is_named) {
    const TempFolder folder;
    ProgramStart request = shell(folder, "");
    request.program = "/nonexistent/program";
    try {
        spawn(request);
        FAIL() << "it cannot start";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable);
        EXPECT_NE(std::string(error.what()).find("/nonexistent/program"), std::string::npos);
    }
}

}    // namespace
}    // namespace slipway
