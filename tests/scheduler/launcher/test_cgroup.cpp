// Goal: a service uses the cgroups that were given to it and no others, and they limit what they
// should. Method: files that stand in for the kernel's, and, where SLIPWAY_TEST_CGROUP names a
// cgroup that is free for tests, the kernel's own.

#include "scheduler/launcher/confine/cgroup.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "api/base/error.h"
#include "scheduler/launcher/local_launcher.h"
#include "scheduler/launcher/memory_use.h"
#include "tests/scheduler/launcher/exit_of.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

/// The machine of a unit in whose cgroup "service" the service runs.
class Delegated : public ::testing::Test {
protected:
    void SetUp() override {
        for (const char* file : {"unit/cgroup.controllers", "unit/cgroup.subtree_control"})
            folder.write(file, "cpu memory pids\n");
        folder.write("unit/cgroup.procs", "");
        fs::create_directory(unit / "service");
        folder.write("own", "3:memory:/elsewhere\n0::/unit/service\n");
        folder.write("mounts", fmt::format("tmpfs /tmp tmpfs rw 0 0\ncgroup2 {} cgroup2 rw 0 0\n",
                                           folder.path().string()));
        if (setxattr(unit.c_str(), "user.delegate", "1", 1, 0) != 0)
            GTEST_SKIP() << "the file system has no attributes";
    }

    CgroupTree find() const {
        return find_cgroup_tree("auto",
                                {.own = folder.path() / "own", .mounts = folder.path() / "mounts"});
    }

    TempFolder folder;
    const fs::path unit = folder.path() / "unit";
};

TEST_F(Delegated, the_parent_of_its_own_is_used_when_it_was_given_away) {
    EXPECT_EQ(find().folder, unit);
    removexattr(unit.c_str(), "user.delegate");
    EXPECT_FALSE(find());
    EXPECT_NE(find().missing.find("DelegateSubgroup"), std::string::npos);
}

TEST_F(Delegated, what_cannot_limit_memory_is_not_used) {
    folder.write("unit/cgroup.controllers", "cpu pids\n");
    EXPECT_FALSE(find());
    EXPECT_NE(find().missing.find("no memory controller"), std::string::npos);
    folder.write("unit/cgroup.controllers", "memory\n");
    folder.write("unit/cgroup.subtree_control", "");
    EXPECT_TRUE(find());
    folder.write("unit/cgroup.type", "domain\n");
    EXPECT_TRUE(find());
    folder.write("unit/cgroup.procs", "1\n");
    EXPECT_FALSE(find()) << "it holds processes itself";
}

TEST_F(Delegated, outside_of_a_unit_there_is_none) {
    for (const char* own : {"0::/\n", "0::/elsewhere/service\n", "4:memory:/unit/service\n"}) {
        folder.write("own", own);
        EXPECT_FALSE(find()) << own;
        EXPECT_FALSE(find().missing.empty()) << own;
    }
}

TEST(Cgroups, one_that_is_named_must_be_usable) {
    const TempFolder folder;
    EXPECT_FALSE(find_cgroup_tree("off"));
    EXPECT_THROW(find_cgroup_tree((folder.path() / "absent").string()), Error);
    EXPECT_THROW(find_cgroup_tree(folder.path().string()), Error);
    folder.write("memory.limit_in_bytes", "");
    EXPECT_EQ(find_cgroup_tree(folder.path().string()).folder, folder.path());
}

TEST(Cgroups, limits_are_written_and_kills_are_read_in_each_version) {
    const TempFolder folder;
    folder.write("1/slipway.job_a.2/memory.limit_in_bytes", "");
    folder.write("1/slipway.job_a.2/memory.oom_control", "oom_kill_disable 0\noom_kill 3\n");
    folder.write("2/cgroup.controllers", "memory");
    folder.write("2/cgroup.subtree_control", "memory");
    folder.write("2/slipway.job_a.2/cgroup.controllers", "");
    for (const char* file : {"memory.max", "memory.oom.group", "pids.max"})
        folder.write(fmt::format("2/slipway.job_a.2/{}", file), "");
    folder.write("2/slipway.job_a.2/memory.events", "low 0\noom 4\noom_kill 3\n");
    const auto text = [&](const char* file) { return read_file(folder.path() / file); };
    for (const char* version : {"1", "2"}) {
        const CgroupTree tree{.folder = folder.path() / version, .missing = {}};
        const fs::path group = make_cgroup(tree, "job_a/2", {.memory_bytes = 4096, .processes = 7});
        EXPECT_EQ(group, folder.path() / version / "slipway.job_a.2");
        EXPECT_EQ(out_of_memory_kills(group), 3);
        EXPECT_FALSE(remove_cgroup(group)) << "it is not empty";
    }
    EXPECT_EQ(text("1/slipway.job_a.2/memory.limit_in_bytes"), "4096");
    EXPECT_EQ(text("2/slipway.job_a.2/memory.max"), "4096");
    EXPECT_EQ(text("2/slipway.job_a.2/memory.oom.group"), "1");
    EXPECT_EQ(text("2/slipway.job_a.2/pids.max"), "7");
}

TEST(Cgroups, what_was_left_and_is_old_is_removed) {
    const TempFolder folder;
    const CgroupTree tree{.folder = folder.path(), .missing = {}};
    for (const char* name : {"slipway.old", "slipway.young", "other"})
        fs::create_directory(folder.path() / name);
    folder.write("slipway.lives/cgroup.procs", "1");
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
    for (const char* name : {"slipway.old", "slipway.lives", "other"})
        fs::last_write_time(folder.path() / name, long_ago);
    remove_left_cgroups(tree, system_clock().now());
    EXPECT_FALSE(fs::exists(folder.path() / "slipway.old"));
    for (const char* name : {"slipway.young", "slipway.lives", "other"})
        EXPECT_TRUE(fs::exists(folder.path() / name)) << name;
}

/// Writes 64 MiB, makes them read-only and waits.
constexpr const char* holder = R"(
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
while True:
    held = libc.mmap(None, 64 << 20, 3, 0x22, -1, 0)
    ctypes.memset(held, 1, 64 << 20)
    libc.mprotect(held, 64 << 20, 1)
    print("held", flush=True)
    if not GREEDY: time.sleep(1000)
)";

LaunchRequest python(const TempFolder& folder, const std::string& script) {
    return {.name = "job_test/1",
            .process = {.program = "/usr/bin/python3",
                        .arguments = {"-I", "-S", "-c", script},
                        .folder = folder.path(),
                        .output = folder.path() / "output",
                        .result = {}}};
}

TEST(MemoryUse, counts_what_was_written_and_made_read_only) {
    const TempFolder folder;
    const RunningProcess process =
        spawn(python(folder, std::string("GREEDY = False") + holder).process);
    EXPECT_TRUE(eventually([&] { return read_file(folder.path() / "output") == "held\n"; }));
    EXPECT_GE(memory_use_bytes(process.id), 64 << 20);
    EXPECT_LT(memory_use_bytes(process.id), 128 << 20);
    signal_group(process, SIGKILL);
    EXPECT_TRUE(eventually([&] { return reap(process).has_value(); }));
    EXPECT_EQ(memory_use_bytes(process.id), 0);
}

TEST(CgroupsOfTheKernel, end_who_holds_more_than_its_limit) {
    const char* named = std::getenv("SLIPWAY_TEST_CGROUP");
    if (named == nullptr) GTEST_SKIP() << "SLIPWAY_TEST_CGROUP names no cgroup";
    const CgroupTree tree = find_cgroup_tree(named);
    const TempFolder folder;
    const LocalLauncher launcher(LauncherOptions{.cgroups = tree});
    LaunchRequest request = python(folder, std::string("GREEDY = True") + holder);
    request.memory_bytes = 64 << 20;
    const std::unique_ptr<LaunchedProcess> process = launcher.launch(request);
    const fs::path group = cgroup_folder(tree, "job_test/1");
    ASSERT_TRUE(process->keeps_memory_limit());
    EXPECT_FALSE(process->exceeded_memory());
    EXPECT_FALSE(remove_cgroup(group)) << "it has a process";
    EXPECT_EQ(exit_of(*process), 128 + SIGKILL);
    // Version 2 counts it as the cause and as a member of its group.
    EXPECT_GE(out_of_memory_kills(group), 1);
    EXPECT_TRUE(process->exceeded_memory());
    EXPECT_TRUE(eventually([&] { return process->is_cleared(); }));
    EXPECT_FALSE(fs::exists(group));
}

}    // namespace
}    // namespace slipway
