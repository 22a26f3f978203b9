// Goal: an attempt gets what its job begins with: the file of an upload, none where a checkpoint
// has the network, and a clear end where the upload is gone.
#include "scheduler/agent/weights_location.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;
using enum JobState;

class WeightsLocation : public AgentBench {
protected:
    std::string complete_upload() {
        const std::string id = new_id("upl");
        store::create_upload(store, {.id = id, .size = 0, .created_by = "tok_test"},
                             std::chrono::hours{1});
        EXPECT_TRUE(store::complete_upload(store, id));
        return id;
    }

    /// A job that imports the network and trains a few steps.
    std::string submit_importing(const std::string& network) {
        store::NewJob job = new_job();
        job.spec =
            Json{{"labels", {{"steps", "5"}}}, {"model", {{"arch", "imported"}, {"from", network}}}}
                .dump();
        job.dataset_id = store::find_dataset(store, "default", "digits")->id;
        job.upload_ids = {network};
        return submit(job);
    }

    Json order_of(const store::AttemptKey& key) const {
        return Json::parse(read_at_most(run_folder_of(key) / "attempt.json", 1 << 20).value());
    }

    fs::path file_of(const std::string& upload) const {
        return options.artifacts().locate(Artifact::upload, upload);
    }
};

TEST_F(WeightsLocation, a_network_is_the_file_of_a_complete_upload) {
    const std::string network = complete_upload();
    const auto find = [&](const std::string& from) {
        const Json spec{{"model", {{"from", from}}}};
        return find_network_location(store, spec.dump(), options.artifacts());
    };
    EXPECT_EQ(find(network), file_of(network));
    EXPECT_EQ(find_network_location(store, R"({"model": {}})", options.artifacts()), fs::path());
    EXPECT_EQ(find(new_id("upl")), std::nullopt);
    EXPECT_EQ(find("../network.pt2"), std::nullopt);
    database.sql("update upload set complete = false");
    EXPECT_EQ(find(network), std::nullopt);
}

TEST_F(WeightsLocation, an_attempt_that_begins_gets_the_network) {
    const std::string network = complete_upload();
    start_agent();
    const store::AttemptKey key = place(submit_importing(network));
    agent->wake();
    ASSERT_TRUE(reaches(key.job_id, succeeded));
    EXPECT_EQ(order_of(key).at("network_from"), file_of(network).string());
}

TEST_F(WeightsLocation, without_the_upload_an_attempt_that_begins_fails) {
    const std::string job = submit_importing(complete_upload());
    database.sql("delete from upload");
    start_agent();
    place(job);
    agent->wake();
    ASSERT_TRUE(reaches(job, failed));
    EXPECT_EQ(store::find_job(store, job)->reason->message,
              "the upload of model.from is no longer kept");
}

TEST_F(WeightsLocation, without_the_upload_an_attempt_that_resumes_runs) {
    const std::string job = submit_importing(complete_upload());
    const store::AttemptKey first = place(job);
    store::RelayedFrame frame;
    frame.number = 1;
    const std::string saved = "step_000001_attempt_1";
    const fs::path folder = options.artifacts().locate(Artifact::checkpoint, job, saved);
    fs::create_directories(folder);
    std::ofstream(folder / "state.json") << 1;
    frame.checkpoint = store::RelayedCheckpoint{.id = new_id("ckp"),
                                                .name = saved,
                                                .step = 1,
                                                .kinds = {"last"},
                                                .files = "[]",
                                                .bytes = 1};
    store::relay_frames(store, first, {frame});
    store::finish_attempt(store, first, {.exit_kind = "crashed", .job_state = queued});
    database.sql("delete from upload");
    start_agent();
    const store::AttemptKey second = place(job);
    agent->wake();
    ASSERT_TRUE(reaches(job, succeeded));
    EXPECT_TRUE(order_of(second).at("network_from").is_null());
    EXPECT_FALSE(order_of(second).at("resume_from").is_null());
}

}    // namespace
}    // namespace slipway
