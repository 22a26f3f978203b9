// Goal: a run folder that was made ahead is one like any other, and is never somebody else's.

#include "scheduler/agent/spare_run_folders.h"

#include <gtest/gtest.h>

#include "scheduler/agent/run_folder.h"
#include "scheduler/agent/spare_file.h"
#include "scheduler/launcher/exchange_folders.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

class SpareRunFoldersTest : public ::testing::Test {
protected:
    SpareRunFoldersTest() { fs::create_directories(runs); }

    static int mode_of(const fs::path& path) { return int(fs::status(path).permissions()); }
    std::ptrdiff_t count() const {
        std::error_code absent;
        return std::distance(fs::directory_iterator(spare, absent), fs::directory_iterator());
    }

    TempFolder folder;
    const fs::path runs = folder.path() / "runs", spare = folder.path() / "spare";
};

TEST_F(SpareRunFoldersTest, one_that_is_taken_differs_from_one_that_is_made_in_nothing) {
    SpareRunFolders spares(spare, 2);
    EXPECT_FALSE(spares.take(runs / "job_1/1")) << "none is made before";
    spares.refill();
    spares.refill();
    EXPECT_EQ(count(), 2);
    ASSERT_TRUE(spares.take(runs / "job_1/1"));
    EXPECT_EQ(count(), 1);
    make_run_folder(runs / "job_2/1");
    EXPECT_EQ(mode_of(runs / "job_1"), mode_of(runs / "job_2"));
    EXPECT_EQ(mode_of(runs / "job_1/1"), mode_of(runs / "job_2/1"));
    for (const fs::path& run : {runs / "job_1/1", runs / "job_2/1"}) {
        EXPECT_TRUE(lock_run_folder(run)) << run;
        EXPECT_FALSE(has_frames(run)) << run;
        write_order(run, "an order");
        EXPECT_EQ(read_file(run / "attempt.json"), "an order");
        EXPECT_FALSE(fs::exists(run / "attempt.json.new"));
        EXPECT_EQ(mode_of(run / "attempt.json"), 0600) << run;
    }
    const FolderId first = folder_id(runs / "job_1/1");
    ASSERT_TRUE(spares.take(runs / "job_3/1"));
    EXPECT_NE(folder_id(runs / "job_3/1"), first);
    EXPECT_FALSE(spares.take(runs / "job_4/1")) << "none is left";
}

TEST_F(SpareRunFoldersTest, a_folder_that_is_there_or_of_a_later_attempt_is_not_replaced) {
    SpareRunFolders spares(spare, 1);
    spares.refill();
    const fs::path frames = folder.write("runs/job_1/1/frames.ndjson", "said");
    EXPECT_FALSE(spares.take(runs / "job_1/1"));
    EXPECT_FALSE(spares.take(runs / "job_2/2"));
    EXPECT_FALSE(spares.take(folder.path() / "absent" / "job_2/1"));
    EXPECT_EQ(read_file(frames), "said");
    EXPECT_TRUE(has_frames(runs / "job_1/1"));
    EXPECT_EQ(count(), 1);
}

TEST_F(SpareRunFoldersTest, those_of_a_service_before_and_those_that_are_gone_are_not_used) {
    folder.write("spare/0/1/frames.ndjson", "of another job");
    SpareRunFolders spares(spare, 1);
    EXPECT_EQ(count(), 0);
    spares.refill();
    fs::remove_all(spare);
    EXPECT_FALSE(spares.take(runs / "job_1/1"));
    EXPECT_FALSE(fs::exists(runs / "job_1"));
    folder.write("spare", "no folder");
    spares.refill();
    EXPECT_FALSE(spares.take(runs / "job_1/1"));
    fs::remove(spare);
    spares.refill();
    EXPECT_TRUE(spares.take(runs / "job_1/1"));
    for (const char* run : {"job_2/1", "job_3/1"}) {
        spares.refill();
        fs::remove_all(spare);
        EXPECT_FALSE(spares.take(runs / run));
    }
    spares.refill();
    EXPECT_FALSE(spares.take(runs / "job_4/1")) << "they never are";
    SpareRunFolders none(folder.path() / "none", 0);
    none.refill();
    EXPECT_FALSE(fs::exists(folder.path() / "none"));
}

TEST(SpareFile, is_written_over_and_named_or_left_alone) {
    const TempFolder folder;
    const fs::path spare = folder.path() / "spare", path = folder.path() / "path";
    EXPECT_FALSE(write_over_spare(spare, path, "text"));
    folder.write("spare", "longer than the text");
    folder.write("path", "before");
    EXPECT_FALSE(write_over_spare(spare, path, "text")) << "its end would stay";
    fs::remove(spare);
    fs::create_symlink("path", spare);
    EXPECT_FALSE(write_over_spare(spare, path, "text"));
    EXPECT_EQ(read_file(path), "before");
    fs::remove(spare);
    fs::create_hard_link(path, spare);
    EXPECT_FALSE(write_over_spare(spare, path, "some text")) << "somebody else's, too";
    EXPECT_EQ(read_file(path), "before");
    fs::remove(spare);
    folder.write("spare", "old");
    ASSERT_TRUE(write_over_spare(spare, path, "text"));
    EXPECT_EQ(read_file(path), "text");
    EXPECT_FALSE(fs::exists(spare));
}

}    // namespace
}    // namespace slipway
