// Goal: what nobody follows is stored now and then, and as it comes once somebody does.
// Method: "now and then" is never, so that what an executor says stays in its file.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "scheduler/store/watched.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

class WatchedAttempts : public AgentBench {
protected:
    /// Frames in its file that are not in the database.
    std::int64_t unstored(const store::AttemptKey& key) const {
        std::ifstream file(run_folder_of(key) / "frames.ndjson");
        const auto said = std::count(std::istreambuf_iterator<char>(file),
                                     std::istreambuf_iterator<char>(), '\n');
        return said - points(key.job_id);
    }

    const std::filesystem::path enough = folder.path() / "enough";
};

TEST_F(WatchedAttempts, are_stored_as_they_speak) {
    options.store_every = std::chrono::hours(24);
    start_agent();
    const store::AttemptKey key =
        run_job({{"steps", "100000"}, {"step_ms", "3"}, {"until", enough.string()}});
    ASSERT_TRUE(trains(key.job_id, 1)) << "a first step is waited for";
    ASSERT_TRUE(eventually([&] { return unstored(key) > 400; }));
    store::keep_watched(store, {key.job_id});
    ASSERT_TRUE(eventually([&] { return unstored(key) < 200; }));
    std::ofstream(enough).close();
    ASSERT_TRUE(reaches(key.job_id, JobState::succeeded));
    expect_complete(key.job_id, Json::parse(store::find_job(store, key.job_id)->result).at("step"));
}

// Who stops to follow leaves nothing behind: last words are stored in any case.
TEST_F(WatchedAttempts, end_whole_without_a_follower) {
    options.store_every = std::chrono::hours(24);
    start_agent();
    const store::AttemptKey key =
        run_job({{"steps", "100000"}, {"step_ms", "3"}, {"until", enough.string()}});
    ASSERT_TRUE(eventually([&] { return unstored(key) > 400; }));
    std::ofstream(enough).close();
    ASSERT_TRUE(reaches(key.job_id, JobState::succeeded));
    expect_complete(key.job_id, Json::parse(store::find_job(store, key.job_id)->result).at("step"));
}

}    // namespace
}    // namespace slipway
