#include "scheduler/agent/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "scheduler/agent/dataset_location.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

store::HostAttempt host_attempt() {
    store::HostAttempt attempt;
    attempt.attempt.job_id = "job_1";
    attempt.attempt.attempt = 2;
    attempt.attempt.fence = "f00d";
    attempt.spec = R"({"accelerator": {"cores": 1, "memory_bytes": 123}})";
    attempt.dataset_id = "ds_1";
    attempt.dataset_name = "digits";
    attempt.dataset_format = "idx";
    attempt.dataset_options = R"({"channels": 1})";
    attempt.dataset_content_hash = "sha256:ab";
    return attempt;
}

TEST(AttemptOrderOf, holds_everything_an_executor_needs) {
    store::HostAttempt attempt = host_attempt();
    attempt.saves_requested = 4;
    attempt.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const AttemptPaths paths{.dataset = "/data/digits",
                             .checkpoints = "/store/checkpoints/job_1",
                             .report = "/store/reports/job_1",
                             .cache = "/store/compile_cache",
                             .packed = "/store/packed",
                             .memory_bytes = 123};
    Json order = to_json(attempt_order(attempt, paths));
    EXPECT_EQ(order, Json::parse(R"({"version": 5, "job_id": "job_1", "attempt": 2, "fence": "f00d",
        "kind": "train", "spec": {"accelerator": {"cores": 1, "memory_bytes": 123}}, "payload": null,
        "dataset": {"id": "ds_1", "name": "digits", "format": "idx", "path": "/data/digits", "options": {"channels": 1}, "content_hash": "sha256:ab"},
        "checkpoint_folder": "/store/checkpoints/job_1", "resume_from": null, "init_from": null, "network_from": null, "checkpoints": [], "split": null, "member": null, "saves_requested": 4, "worker_threads": 0, "grace_s": 60,
        "memory_bytes": 123, "report_folder": "/store/reports/job_1", "cache_folder": "/store/compile_cache",
        "packed_folder": "/store/packed",
        "decoded_folder": "", "decoded_bytes_max": 0,
        "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"})"));
    attempt.spec = "{}";
    AttemptPaths resuming = paths;
    resuming.resume = "/store/checkpoints/job_1/step_1";
    order = to_json(attempt_order(attempt, resuming));
    EXPECT_EQ(order.at("resume_from"), "/store/checkpoints/job_1/step_1");
    attempt.kind = JobKind::predict;
    attempt.payload = R"({"data": {"dataset": "digits"}})";
    AttemptPaths predicting = paths;
    predicting.payload_checkpoints = {"/store/checkpoints/job_0/step_1"};
    order = to_json(attempt_order(attempt, predicting));
    EXPECT_EQ(order.at("kind"), "predict");
    EXPECT_EQ(order.at("checkpoints"), Json({"/store/checkpoints/job_0/step_1"}));
    EXPECT_EQ(order.at("payload"), Json::parse(R"({"data": {"dataset": "digits"}})"));
    AttemptPaths with_weights = paths;
    with_weights.init = "/store/uploads/upl_1";
    EXPECT_EQ(to_json(attempt_order(attempt, with_weights)).at("init_from"),
              "/store/uploads/upl_1");
    AttemptPaths importing = paths;
    importing.network = "/store/uploads/upl_1";
    EXPECT_EQ(to_json(attempt_order(attempt, importing)).at("network_from"),
              "/store/uploads/upl_1");
    AttemptPaths with_split = paths;
    with_split.split = "/store/splits/spl_1.json";
    with_split.split_hash = "sha256:cd";
    EXPECT_EQ(to_json(attempt_order(attempt, with_split)).at("split"),
              Json::parse(R"({"path": "/store/splits/spl_1.json", "hash": "sha256:cd"})"));
}

TEST(RunFolderLock, one_holder_at_a_time) {
    const TempFolder folder;
    auto first = lock_run_folder(folder.path());
    ASSERT_TRUE(first);
    EXPECT_FALSE(lock_run_folder(folder.path()));
    first.reset();
    EXPECT_TRUE(lock_run_folder(folder.path()));
}

TEST(RunFolderLock, only_a_regular_file_is_a_lock) {
    const TempFolder folder;
    const fs::path lock = folder.path() / "lock";
    const auto precious = folder.write("precious", "x");
    fs::create_symlink(precious, lock);
    EXPECT_THROW(lock_run_folder(folder.path()), Error);
    fs::remove(lock);
    ASSERT_EQ(mkfifo(lock.c_str(), 0600), 0);
    EXPECT_THROW(lock_run_folder(folder.path()), Error);
    fs::remove(lock);
    fs::create_directory(lock);
    EXPECT_THROW(lock_run_folder(folder.path()), Error);
}

TEST(ReadTail, whole_lines_from_the_end) {
    const TempFolder folder;
    const auto file = folder.write("log", "first\nsecond\nthird\n");
    EXPECT_EQ(read_tail(file, 100), "first\nsecond\nthird");
    EXPECT_EQ(read_tail(file, 9), "third");
    EXPECT_EQ(read_tail(folder.path() / "absent", 9), "");
}

const std::vector<DatasetRoot> nowhere;

TEST(DatasetLocation, paths_lie_below_an_allowed_root_or_are_refused) {
    const TempFolder folder;
    folder.write("root/digits/file", "x");
    folder.write("secret/file", "x");
    fs::create_directory_symlink(folder.path() / "secret", folder.path() / "root" / "link");
    const std::vector<DatasetRoot> roots{{.path = "/nonexistent"},
                                         {.path = folder.path() / "root"}};
    const auto find = [&](const Json& source) {
        return find_dataset_location(source.dump(), "ds_1", ArtifactStore("/home"),
                                     {"default", roots});
    };
    EXPECT_EQ(find({{"path", "digits"}})->path, folder.path() / "root" / "digits");
    EXPECT_EQ(find({{"path", (folder.path() / "root" / "digits").string()}})->path,
              folder.path() / "root" / "digits");
    EXPECT_FALSE(find({{"path", "absent"}}));
    EXPECT_FALSE(find({{"path", "../secret"}}));
    EXPECT_FALSE(find({{"path", "link"}}));
    EXPECT_FALSE(find({{"path", (folder.path() / "secret").string()}}));
    EXPECT_FALSE(find({{"path", 5}}));
    EXPECT_FALSE(find(Json::array()));
    EXPECT_FALSE(
        find_dataset_location("nonsense", "ds_1", ArtifactStore("/home"), {"default", roots}));
}

TEST(DatasetLocation, a_root_of_other_projects_is_not_read) {
    const TempFolder folder;
    folder.write("root/scans/file", "x");
    const std::vector<DatasetRoot> roots{{.path = folder.path() / "root", .projects = {"ct"}}};
    const std::string source = R"({"path": "scans"})";
    EXPECT_TRUE(find_dataset_location(source, "ds_1", ArtifactStore("/home"), {"ct", roots}));
    EXPECT_FALSE(find_dataset_location(source, "ds_1", ArtifactStore("/home"), {"nlp", roots}));
}

TEST(DatasetLocation, an_upload_is_unpacked_to_the_dataset_s_own_folder) {
    const auto place = find_dataset_location(R"({"upload": "upl_1"})", "ds_1",
                                             ArtifactStore("/home"), {"default", nowhere});
    ASSERT_TRUE(place);
    EXPECT_EQ(place->path, "/home/store/datasets/ds_1");
    EXPECT_EQ(place->upload, "/home/store/uploads/upl_1");
    EXPECT_EQ(place->filename, "data");
    const std::string named = R"({"upload": "upl_1", "filename": "points.csv"})";
    EXPECT_EQ(find_dataset_location(named, "ds_1", ArtifactStore("/home"), {"default", nowhere})
                  ->filename,
              "points.csv");
    EXPECT_FALSE(find_dataset_location(R"({"upload": "../x"})", "ds_1", ArtifactStore("/home"),
                                       {"default", nowhere}));
}

// Goal: a process that we started harms us neither with a large file nor with one that never ends.
TEST(ReadAtMost, reads_only_regular_files_of_the_size_that_is_expected) {
    const TempFolder folder;
    const fs::path file = folder.write("report.json", "12345");
    EXPECT_EQ(read_at_most(file, 5), "12345");
    EXPECT_EQ(read_at_most(file, 4), std::nullopt);
    EXPECT_EQ(read_at_most(folder.path() / "missing", 5), std::nullopt);
    EXPECT_EQ(read_at_most(folder.path(), 5), std::nullopt);
    fs::create_symlink(file, folder.path() / "link");
    EXPECT_EQ(read_at_most(folder.path() / "link", 5), std::nullopt);
    ASSERT_EQ(mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
    EXPECT_EQ(read_at_most(folder.path() / "fifo", 5), std::nullopt);
    EXPECT_EQ(read_tail(folder.path() / "fifo", 5), "");
}

}    // namespace
}    // namespace slipway
