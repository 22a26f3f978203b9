// Goal: a file whose content has changed is read again, even with its old size and times restored.
#include "executor/data/shared/known_content.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "executor/data/content_hash.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

using std::chrono::seconds;

class KnownContent : public testing::Test {
protected:
    KnownContent() {
        folder_.write("data/a.csv", "1,2\n");
        folder_.write("data/b.csv", "3,4\n");
    }

    /// The files are as old as the test wants: nothing waits.
    std::string find(Instant since = system_clock().now() + seconds{60}) {
        return find_content_hash(data_, files_, 1, memory_, since);
    }
    std::string hash() const { return hash_content(data_, files_, 1).hash; }
    std::size_t kept() const {
        std::size_t count = 0;
        for ([[maybe_unused]] const auto& entry :
             std::filesystem::directory_iterator(memory_.folder))
            ++count;
        return count;
    }

    TempFolder folder_;
    const std::filesystem::path data_ = folder_.path() / "data";
    const std::vector<std::string> files_{"a.csv", "b.csv"};
    const ContentMemory memory_{.folder = folder_.path() / "memory"};
};

TEST_F(KnownContent, is_read_once) {
    EXPECT_EQ(find(), hash());
    ASSERT_EQ(kept(), 1U);
    // Another hash in its place is believed: the files are not read again.
    const auto file = std::filesystem::directory_iterator(memory_.folder)->path();
    const std::string other = "sha256:" + std::string(64, '0');
    std::ofstream(file, std::ios::trunc) << other;
    EXPECT_EQ(find(), other);
    std::ofstream(file, std::ios::trunc) << "sha256:torn";
    EXPECT_EQ(find(), hash()) << "what is no hash is made again";
    EXPECT_EQ(find(), hash());
}

TEST_F(KnownContent, of_the_same_size_and_time_is_found_out) {
    const std::string before = find();
    struct stat facts {};
    ASSERT_EQ(stat((data_ / "b.csv").c_str(), &facts), 0);
    folder_.write("data/b.csv", "3,5\n");
    const timespec times[2]{facts.st_atim, facts.st_mtim};
    ASSERT_EQ(utimensat(AT_FDCWD, (data_ / "b.csv").c_str(), times, 0), 0);
    EXPECT_NE(find(), before);
    EXPECT_EQ(find(), hash());
}

TEST_F(KnownContent, of_files_that_were_changed_a_moment_ago_is_not_kept) {
    EXPECT_EQ(find(system_clock().now()), hash());
    EXPECT_FALSE(std::filesystem::exists(memory_.folder));
    keep_content_hash(data_, files_, "sha256:" + std::string(64, '1'), memory_,
                      system_clock().now());
    EXPECT_FALSE(std::filesystem::exists(memory_.folder));
    keep_content_hash(data_, files_, "sha256:" + std::string(64, '1'), memory_,
                      system_clock().now() + seconds{60});
    EXPECT_EQ(find(), "sha256:" + std::string(64, '1'));
}

}    // namespace
}    // namespace slipway
