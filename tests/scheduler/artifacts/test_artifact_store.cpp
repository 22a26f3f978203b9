#include "scheduler/artifacts/artifact_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/base/error.h"
#include "scheduler/artifacts/below.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

// Goal: homes of earlier versions are read: the layout is a contract.
TEST(ArtifactStore, has_the_layout_of_every_home) {
    const ArtifactStore store("/home");
    EXPECT_EQ(store.locate(Artifact::run, "job_1", "2"), "/home/runs/job_1/2");
    EXPECT_EQ(store.locate(Artifact::check, "ds_1"), "/home/runs/checks/ds_1");
    EXPECT_EQ(store.locate(Artifact::checkpoint, "job_1"), "/home/store/checkpoints/job_1");
    EXPECT_EQ(store.locate(Artifact::checkpoint, "job_1", "step_1"),
              "/home/store/checkpoints/job_1/step_1");
    EXPECT_EQ(store.locate(Artifact::dataset, "ds_1"), "/home/store/datasets/ds_1");
    EXPECT_EQ(store.locate(Artifact::report, "job_1"), "/home/store/reports/job_1");
    EXPECT_EQ(store.locate(Artifact::split, "spl_1"), "/home/store/splits/spl_1.json");
    EXPECT_EQ(store.locate(Artifact::upload, "upl_1"), "/home/store/uploads/upl_1");
    EXPECT_EQ(store.locate(Artifact::compile_cache, "7"), "/home/store/compile_cache/7");
    EXPECT_EQ(store.locate(Artifact::packed_images, "7"), "/home/store/packed/7");
    EXPECT_EQ(store.locate(Artifact::decoded_data, "7", "ds_1"), "/home/store/decoded/7/ds_1");
    EXPECT_EQ(store.folder(Artifact::weights_export), "/home/store/exports");
}

TEST(ArtifactStore, finds_garbage_by_the_names_of_the_database_and_nothing_else) {
    const ArtifactStore store("/home");
    EXPECT_EQ(store.locate_garbage("runs/job_1"), "/home/runs/job_1");
    EXPECT_EQ(store.locate_garbage("checkpoints/job_1/step_1"),
              "/home/store/checkpoints/job_1/step_1");
    EXPECT_EQ(store.locate_garbage("splits/spl_1.json"), "/home/store/splits/spl_1.json");
    for (const char* name :
         {"", "/", "runs", "runs/", "/etc/passwd", "packed/7", "exports/x", "runs/../store/uploads",
          "uploads/..", "uploads//etc/passwd", "checks/ds_1", "store/uploads/upl_1"})
        EXPECT_FALSE(store.locate_garbage(name)) << name;
}

TEST(ArtifactStore, takes_a_plain_file_once) {
    const TempFolder home;
    const ArtifactStore store(home.path());
    fs::create_directories(store.folder(Artifact::split));
    home.write("made", "folds");
    store.put(Artifact::split, "spl_1", home.path() / "made");
    EXPECT_TRUE(fs::exists(store.locate(Artifact::split, "spl_1")));
    store.put(Artifact::split, "spl_1", home.path() / "made");    // done before an outage

    fs::create_symlink("/etc/passwd", home.path() / "link");
    fs::create_directory(home.path() / "folder");
    for (const char* name : {"link", "folder", "nothing"})
        EXPECT_THROW(store.put(Artifact::split, "spl_2", home.path() / name), Error) << name;
    EXPECT_FALSE(fs::exists(store.locate(Artifact::split, "spl_2")));
}

TEST(ArtifactStore, names_each_folder_after_the_one_it_lies_in) {
    const auto folders = artifact_folders();
    for (auto each = folders.begin(); each != folders.end(); ++each) {
        const std::string_view parent = each->substr(0, each->rfind('/'));
        if (parent == *each) continue;
        EXPECT_NE(std::find(folders.begin(), each, parent), each) << *each;
    }
}

TEST(Below, nothing_leads_out_of_the_root) {
    EXPECT_EQ(below("/root", "a/b"), fs::path("/root/a/b"));
    for (const char* bad : {"", "/etc", "..", "a/../../etc", "./a", "a//../b/..", "a/"})
        EXPECT_FALSE(below("/root", bad)) << bad;
}

}    // namespace
}    // namespace slipway
