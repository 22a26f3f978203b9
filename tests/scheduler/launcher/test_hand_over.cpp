#include "scheduler/launcher/hand_over.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <stop_token>
#include <thread>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr uid_t new_owner = 880002;

class HandOver : public ::testing::Test {
protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
    }

    uid_t owner(const fs::path& name) const {
        struct stat found {};
        EXPECT_EQ(lstat((folder.path() / name).c_str(), &found), 0) << name;
        return found.st_uid;
    }

    TempFolder folder;
};

TEST_F(HandOver, a_folder_is_given_whole_and_links_are_not_followed) {
    folder.write("given/a/b", "x");
    folder.write("kept", "x");
    folder.write("kept_folder/file", "x");
    fs::create_symlink(folder.path() / "kept", folder.path() / "given" / "link");
    fs::create_symlink(folder.path() / "kept_folder", folder.path() / "given" / "folder_link");
    hand_over(folder.path() / "given", new_owner);
    for (const char* name : {"given", "given/a", "given/a/b", "given/link", "given/folder_link"})
        EXPECT_EQ(owner(name), new_owner) << name;
    for (const char* name : {"kept", "kept_folder", "kept_folder/file"})
        EXPECT_EQ(owner(name), 0U) << name;
    hand_over(folder.path() / "absent", new_owner);
}

TEST_F(HandOver, a_file_with_another_name_is_refused) {
    const fs::path outside = folder.write("outside", "x");
    folder.write("given/file", "x");
    fs::create_hard_link(outside, folder.path() / "given" / "link");
    try {
        hand_over(folder.path() / "given", new_owner);
        FAIL() << "it was given";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("given/link"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("hard link"), std::string::npos);
    }
    EXPECT_EQ(owner("outside"), 0U);
    EXPECT_EQ(owner("given"), 0U) << "so that the next walk looks again";
    // The user's own may have as many names as it likes.
    ASSERT_EQ(chown(outside.c_str(), new_owner, new_owner), 0);
    hand_over(folder.path() / "given", new_owner);
    EXPECT_EQ(owner("given"), new_owner);
}

TEST_F(HandOver, folders_may_be_nested_and_not_without_end) {
    std::string deep = "given";
    for (int level = 0; level < 100; ++level)
        deep += "/d";
    fs::create_directories(folder.path() / deep);
    hand_over(folder.path() / "given", new_owner);
    EXPECT_EQ(owner(deep), new_owner);
    for (int level = 0; level < 100; ++level)
        deep += "/d";
    fs::create_directories(folder.path() / deep);
    ASSERT_EQ(chown((folder.path() / "given").c_str(), 0, 0), 0);
    EXPECT_THROW(hand_over(folder.path() / "given", new_owner), Error);
}

// Goal: nothing outside is given while folders of the tree are replaced by links. Method: somebody
// exchanges one and the other as fast as the system lets him.
TEST_F(HandOver, a_folder_that_becomes_a_link_leads_nowhere) {
    for (const char* name : {"given/a/file", "outside/file"})
        folder.write(name, "x");
    fs::create_symlink(folder.path() / "outside", folder.path() / "link");
    const std::string inside = folder.path() / "given" / "a", link = folder.path() / "link";
    const std::jthread exchange([&](const std::stop_token& stop) {
        while (!stop.stop_requested())
            renameat2(AT_FDCWD, inside.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
    });
    for (int i = 0; i < 3000; ++i) {
        hand_over(folder.path() / "given", new_owner);
        ASSERT_EQ(chown((folder.path() / "given").c_str(), 0, 0), 0);
    }
    EXPECT_EQ(owner("outside/file"), 0U);
    EXPECT_EQ(owner("outside"), 0U);
}

}    // namespace
}    // namespace slipway
