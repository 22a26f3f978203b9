// Goal: whatever a process left behind is removed in bounded steps, and nothing else is.

#include "scheduler/agent/remove_some.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "api/base/posix.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

/// Calls it until nothing is left, or it is stuck.
Removal remove_all_of(const fs::path& path, std::size_t entries_max = 2000) {
    for (int turn = 0; turn < 1000; ++turn) {
        const Removal removal = remove_some(path, entries_max);
        if (removal != Removal::more) return removal;
    }
    return Removal::more;
}

TEST(RemoveSome, large_folders_go_in_several_turns_and_links_are_not_followed) {
    const TempFolder folder;
    folder.write("outside/kept.txt", "x");
    for (int i = 0; i < 25; ++i)
        folder.write("old/deep/" + std::to_string(i) + "/file", "x");
    fs::create_directory_symlink(folder.path() / "outside", folder.path() / "old" / "link");
    int turns = 0;
    while (remove_some(folder.path() / "old", 10) == Removal::more && turns < 100)
        ++turns;
    EXPECT_GT(turns, 2);
    EXPECT_FALSE(fs::exists(folder.path() / "old"));
    EXPECT_TRUE(fs::exists(folder.path() / "outside" / "kept.txt"));
    EXPECT_EQ(remove_some(folder.path() / "absent", 10), Removal::done);
    folder.write("file", "x");
    EXPECT_EQ(remove_some(folder.path() / "file", 10), Removal::done);
}

// Before, a path longer than PATH_MAX could not be removed, and each try read all of it.
TEST(RemoveSome, folders_nested_deeper_than_a_path_can_name_go) {
    const TempFolder folder;
    fs::create_directory(folder.path() / "old");
    UniqueFd inner(open((folder.path() / "old").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name(250, 'n');
    for (int level = 0; level < 200; ++level) {
        ASSERT_EQ(mkdirat(inner.get(), name.c_str(), 0700), 0);
        inner = UniqueFd(openat(inner.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_TRUE(UniqueFd(openat(inner.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600)));
    }
    inner.reset();
    EXPECT_EQ(remove_all_of(folder.path() / "old", 50), Removal::done);
    EXPECT_FALSE(fs::exists(folder.path() / "old"));
}

TEST(RemoveSome, folders_without_rights_and_odd_names_go) {
    const TempFolder folder;
    folder.write("old/closed/inner/deep/file", "x");
    folder.write("old/ \n\xff", "x");
    fs::create_symlink("/proc", folder.path() / "old/closed/inner/link");
    for (const char* closed : {"old/closed/inner/deep", "old/closed/inner", "old/closed", "old"})
        ASSERT_EQ(chmod((folder.path() / closed).c_str(), 0), 0);
    EXPECT_EQ(remove_all_of(folder.path() / "old"), Removal::done);
}

TEST(RemoveSome, a_link_goes_and_what_it_names_stays) {
    const TempFolder folder;
    folder.write("kept/file", "x");
    fs::create_directory_symlink(folder.path() / "kept", folder.path() / "old");
    EXPECT_EQ(remove_some(folder.path() / "old", 10), Removal::done);
    EXPECT_TRUE(fs::exists(folder.path() / "kept/file"));
    EXPECT_EQ(remove_some("/proc/self/status", 10), Removal::stuck);
    EXPECT_EQ(remove_some(folder.path() / "kept/file/below", 10), Removal::done);
}

}    // namespace
}    // namespace slipway
