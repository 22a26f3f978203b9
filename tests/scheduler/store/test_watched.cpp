#include "scheduler/store/watched.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/base/id.h"
#include "scheduler/store/attempts.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

struct Watched : StoreTest {
    void SetUp() override {
        add_host();
        NewJob job = new_job();
        job.project = "mine";
        job.dataset_id = ready_dataset();
        job_id = submit(job);
        place(job_id);
    }

    bool is_watched() { return list_live_attempts(store, host).at(0).is_watched; }

    std::string job_id;
};

TEST_F(Watched, an_attempt_is_followed_by_its_job_its_project_or_with_all) {
    EXPECT_FALSE(is_watched());
    for (const std::string& subject : {job_id, watched_project("mine"), std::string(watch_all)}) {
        keep_watched(store, {"job_of_nobody", subject});
        EXPECT_TRUE(is_watched()) << subject;
        database.sql("delete from watched");
        EXPECT_FALSE(is_watched());
    }
}

TEST_F(Watched, a_trial_is_followed_with_its_sweep) {
    const std::string sweep = new_id("swp");
    database.sql(fmt::format("update job set parent_id = '{}', parent_key = '1' where id = '{}'",
                             sweep, job_id));
    keep_watched(store, {sweep});
    EXPECT_TRUE(is_watched());
}

TEST_F(Watched, others_are_not) {
    keep_watched(store, {"job_of_nobody", watched_project("theirs"), "mine", "swp_"});
    EXPECT_FALSE(is_watched());
    keep_watched(store, {});
    EXPECT_FALSE(is_watched());
}

TEST_F(Watched, it_ends_unless_it_is_said_again) {
    keep_watched(store, {job_id});
    database.sql("update watched set until = clock_timestamp() - interval '1 second'");
    EXPECT_FALSE(is_watched());
    keep_watched(store, {job_id, job_id});
    EXPECT_TRUE(is_watched());
}

TEST_F(Watched, what_ended_long_ago_leaves_no_row) {
    keep_watched(store, {"job_of_nobody", job_id});
    database.sql("update watched set until = clock_timestamp() - interval '2 minutes'");
    keep_watched(store, {job_id});
    EXPECT_EQ(count("watched"), 1);
}

}    // namespace

}    // namespace slipway::store
