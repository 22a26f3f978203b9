// Goal: a project reads what another one goes on writing. Method: Python under slipway-confine as
// the user of the second project.

#include "scheduler/launcher/share.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/base/error.h"
#include "scheduler/launcher/local_launcher.h"
#include "tests/scheduler/launcher/exit_of.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

class Shared : public ::testing::Test {
protected:
    static constexpr uid_t users = 880100;
    static constexpr uid_t owner = users + 1, reader = users + 2;

    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "without root all projects are one user";
        fs::permissions(folder.path(), fs::perms(0711));
        folder.write("job/step_1/model", "weights");
        folder.write("job/step_2/model", "newer");
        for (const char* name : {"job", "job/step_1", "job/step_2"})
            own(name, owner, 0700);
        for (const char* name : {"job/step_1/model", "job/step_2/model"})
            own(name, owner, 0600);
    }

    void own(const char* name, uid_t user, mode_t mode) const {
        const fs::path path = folder.path() / name;
        ASSERT_EQ(chown(path.c_str(), user, user), 0);
        ASSERT_EQ(chmod(path.c_str(), mode), 0);
    }

    std::string facts(const char* name) const {
        struct stat found {};
        EXPECT_EQ(stat((folder.path() / name).c_str(), &found), 0) << name;
        return fmt::format("{:o} {} {}", found.st_mode & 07777, found.st_uid - users,
                           found.st_gid - users);
    }

    /// What project `number` prints, which is given the first checkpoint to read.
    std::string run(int number, const std::string& script) const {
        const fs::path run_folder = folder.path() / fmt::format("run_{}", number);
        const fs::path output = folder.path() / "output";
        fs::remove(output);
        const std::unique_ptr<LaunchedProcess> process =
            LocalLauncher(
                {.confiner = fs::path(SLIPWAY_BIN_DIR) / "slipway-confine", .first_user = users})
                .launch({.process = {.program = "/usr/bin/python3",
                                     .arguments = {"-I", "-S", "-c", script},
                                     .folder = run_folder,
                                     .output = output,
                                     .result = {}},
                         .project_number = number,
                         .shared = {folder.path() / "job" / "step_1"},
                         .writable = {run_folder}});
        EXPECT_TRUE(exit_of(*process));
        return read_file(output);
    }

    TempFolder folder;
};

TEST_F(Shared, another_project_reads_and_the_owner_keeps_everything) {
    EXPECT_EQ(run(2, "print(open('../job/step_1/model').read(), end='')"), "weights");
    EXPECT_EQ(facts("job"), "710 1 1");
    EXPECT_EQ(facts("job/step_1"), "750 1 1");
    EXPECT_EQ(facts("job/step_1/model"), "640 1 1");
    EXPECT_EQ(facts("job/step_2"), "700 1 1") << "nothing else is open";
    EXPECT_EQ(facts("job/step_2/model"), "600 1 1");
    for (const char* refused : {"open('../job/step_2/model')", "os.listdir('../job')",
                                "open('../job/step_1/model', 'w')", "open('../job/step_1/x', 'w')"})
        EXPECT_NE(run(2, fmt::format("import os; {}", refused)).find("PermissionError"),
                  std::string::npos)
            << refused;
}

TEST_F(Shared, of_its_own_nothing_changes) {
    EXPECT_EQ(run(1, "print(open('../job/step_1/model').read(), end='')"), "weights");
    EXPECT_EQ(facts("job"), "700 1 1");
    EXPECT_EQ(facts("job/step_1/model"), "600 1 1");
}

TEST_F(Shared, what_no_project_owns_becomes_the_readers) {
    for (const char* name : {"job", "job/step_1", "job/step_1/model"})
        ASSERT_EQ(chown((folder.path() / name).c_str(), 0, 0), 0);
    EXPECT_EQ(run(2, "print(open('../job/step_1/model').read(), end='')"), "weights");
    EXPECT_EQ(facts("job/step_1/model"), "600 2 2");
}

TEST_F(Shared, nothing_is_shared_through_links_or_of_others) {
    const fs::path secret = folder.write("secret", "x");
    fs::create_symlink(secret, folder.path() / "job/step_1/link");
    fs::create_hard_link(secret, folder.path() / "job/step_1/hard");
    ASSERT_EQ(chmod(secret.c_str(), 0600), 0);
    EXPECT_EQ(share_with_group(folder.path() / "job/step_1"), owner);
    struct stat found {};
    ASSERT_EQ(stat(secret.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600U);
    ASSERT_EQ(chown((folder.path() / "job/step_1").c_str(), owner, 0), 0);
    EXPECT_THROW(share_with_group(folder.path() / "job/step_1"), Error) << "root's group";
}

}    // namespace
}    // namespace slipway
