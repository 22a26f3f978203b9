// Goal: a folder is replaced with all that it holds, and whoever reads below it notices nothing.

#include "scheduler/launcher/exchange_folders.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <fstream>
#include <thread>

#include "api/base/error.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

class ExchangeFolders : public ::testing::Test {
protected:
    ExchangeFolders() {
        fs::create_directories(fresh);
        fs::create_directories(target);
    }

    static ino_t inode_of(const fs::path& path) {
        struct stat facts {};
        return lstat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
    }

    TempFolder folder;
    const fs::path fresh = folder.path() / "fresh";
    const fs::path target = folder.path() / "target";
};

TEST_F(ExchangeFolders, leave_each_file_the_same_and_the_old_folder_empty) {
    folder.write("target/frames", "1\n");
    folder.write("target/last/weights", "bits");
    fs::permissions(target / "last", fs::perms(0750));
    fs::create_symlink("/nowhere", target / "link");
    const ino_t old_folder = inode_of(target), new_folder = inode_of(fresh);
    const ino_t file = inode_of(target / "last" / "weights");
    std::ofstream open_file(target / "frames", std::ios::app);
    exchange_folders(fresh, target);
    EXPECT_EQ(inode_of(target), new_folder);
    EXPECT_EQ(inode_of(fresh), old_folder);
    EXPECT_TRUE(fs::is_empty(fresh));
    EXPECT_EQ(inode_of(target / "last" / "weights"), file);
    EXPECT_EQ(fs::hard_link_count(target / "last" / "weights"), 1U);
    EXPECT_EQ(int(fs::status(target / "last").permissions()), 0750);
    EXPECT_EQ(fs::read_symlink(target / "link"), "/nowhere");
    open_file << "2\n" << std::flush;
    EXPECT_EQ(read_file(target / "frames"), "1\n2\n");
    exchange_folders(fresh, target);
    EXPECT_EQ(inode_of(target), old_folder) << "there and back";
}

TEST_F(ExchangeFolders, refuse_what_is_no_folder_or_too_much_and_change_nothing) {
    EXPECT_THROW(exchange_folders(folder.path() / "absent", target), Error);
    EXPECT_THROW(exchange_folders(fresh, folder.path() / "absent"), Error);
    fs::create_directory_symlink(target, folder.path() / "link");
    EXPECT_THROW(exchange_folders(fresh, folder.path() / "link"), Error);
    for (int i = 0; i <= exchanged_entries_max; ++i)
        std::ofstream(target / std::to_string(i)).close();
    const ino_t before = inode_of(target);
    EXPECT_THROW(exchange_folders(fresh, target), Error);
    EXPECT_EQ(inode_of(target), before);
    EXPECT_TRUE(fs::is_empty(fresh));
    fs::path deep = target;
    for (int i = 0; i <= exchanged_entries_max; ++i)
        fs::remove(target / std::to_string(i));
    for (int i = 0; i < 200; ++i)
        deep /= "d";
    fs::create_directories(deep);
    EXPECT_THROW(exchange_folders(fresh, target), Error);
    EXPECT_TRUE(fs::is_empty(fresh));
    EXPECT_TRUE(fs::is_directory(deep));
}

TEST_F(ExchangeFolders, leave_a_folder_alone_that_is_not_the_expected_one) {
    folder.write("target/frames", "1\n");
    const FolderId before = folder_id(target);
    EXPECT_THROW(exchange_folders(fresh, target, folder_id(fresh)), Error);
    EXPECT_EQ(folder_id(target), before);
    EXPECT_TRUE(fs::is_empty(fresh));
    exchange_folders(fresh, target, before);
    EXPECT_EQ(folder_id(fresh), before);
}

TEST_F(ExchangeFolders, take_along_what_is_kept_and_nothing_else) {
    constexpr auto kept = std::to_array<KeptFile>(
        {{.name = "position"}, {.name = "log", .when_empty = true}, {.name = "last"}});
    folder.write("target/frames", "1\n");
    folder.write("target/position", "7");
    folder.write("target/log", "");
    folder.write("target/last/log", "");
    const ino_t position = inode_of(target / "position");
    exchange_folders(fresh, target, {}, kept);
    EXPECT_EQ(inode_of(fresh / "position"), position);
    EXPECT_TRUE(fs::exists(fresh / "log"));
    EXPECT_FALSE(fs::exists(target / "position"));
    EXPECT_TRUE(fs::exists(target / "last" / "log")) << "neither folders, nor what is below them";
    EXPECT_TRUE(fs::exists(target / "frames"));
    // The next run: what it has is put beside them.
    exchange_folders(fresh, target);
    EXPECT_EQ(inode_of(target / "position"), position);
    EXPECT_TRUE(fs::is_empty(fresh));
    std::ofstream(target / "log") << "words";
    fs::remove(target / "position");
    fs::create_symlink("frames", target / "position");
    exchange_folders(fresh, target, {}, kept);
    EXPECT_TRUE(fs::is_empty(fresh)) << "neither a log with words, nor a link";
    EXPECT_EQ(read_file(target / "log"), "words");
}

TEST_F(ExchangeFolders, move_only_to_a_name_that_is_free_and_back_only_while_empty) {
    const FolderId id = folder_id(fresh);
    const fs::path other = folder.path() / "other";
    EXPECT_FALSE(move_folder(fresh, target));
    EXPECT_EQ(folder_id(fresh), id);
    EXPECT_THROW(move_folder(folder.path() / "absent", other), Error);
    EXPECT_THROW(move_folder(fresh, folder.path() / "absent" / "other"), Error);
    ASSERT_TRUE(move_folder(fresh, other));
    EXPECT_EQ(folder_id(other), id);
    EXPECT_FALSE(move_empty_folder(other, fresh, folder_id(target))) << "another folder";
    folder.write("other/weights", "bits");
    EXPECT_FALSE(move_empty_folder(other, fresh, id));
    EXPECT_EQ(read_file(other / "weights"), "bits");
    fs::remove(other / "weights");
    EXPECT_THROW(move_empty_folder(other, target, id), Error) << "something stands there";
    ASSERT_TRUE(move_empty_folder(other, fresh, id));
    EXPECT_EQ(folder_id(fresh), id);
    EXPECT_THROW(move_empty_folder(other, fresh, id), Error);
}

// Method: a reader looks a file up by its path all the time, while its folder is exchanged. A walk
// that stood still in the old folder, on a machine that is busy, is repeated, as open_below does.
TEST_F(ExchangeFolders, hide_no_file_for_a_moment) {
    const fs::path file = folder.write("target/last/weights", "bits");
    std::atomic<bool> enough{false};
    std::atomic<int> absent{0}, seen{0};
    constexpr int walks_max = 8;
    const auto is_found = [&] {
        for (int walk = 0; walk < walks_max; ++walk)
            if (inode_of(file) != 0) return true;
        return false;
    };
    std::thread reader([&] {
        while (!enough)
            ++(is_found() ? seen : absent);
    });
    for (int i = 0; i < 500 || seen < 500; ++i)
        exchange_folders(fresh, target);
    enough = true;
    reader.join();
    EXPECT_EQ(absent, 0);
}

// Method: files are removed by their paths meanwhile, as the collector of garbage does it: what is
// not found is looked for once more.
TEST_F(ExchangeFolders, bring_back_nothing_that_is_removed_meanwhile) {
    for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 40; ++i)
            std::ofstream(target / std::to_string(i)).close();
        std::thread collector([&] {
            for (int i = 39; i >= 0; --i) {
                std::error_code absent;
                if (!fs::remove(target / std::to_string(i), absent))
                    fs::remove(target / std::to_string(i), absent);
            }
        });
        exchange_folders(fresh, target);
        collector.join();
        ASSERT_TRUE(fs::is_empty(target)) << round;
        ASSERT_TRUE(fs::is_empty(fresh)) << round;
    }
}

}    // namespace
}    // namespace slipway
