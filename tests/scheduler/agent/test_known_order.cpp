#include "scheduler/agent/known_order.h"

#include <gtest/gtest.h>

#include "api/protocol/attempt_order.h"
#include "tests/scheduler/agent/bench.h"

namespace slipway {
namespace {

using enum JobState;

Json order() {
    AttemptOrder order;
    order.job_id = "job_1";
    order.fence = "f00d";
    order.spec = Json::parse(R"({
        "name": "points", "model": {"arch": "mlp"}, "task": {"type": "classification"},
        "data": {"dataset": "points"},
        "train": {"epochs": 1, "batch_size_per_core": 8, "optimizer": {"name": "adam", "lr": 0.01}}
    })");
    order.dataset = {.id = "ds_1", .name = "points", .format = "csv", .path = "/data"};
    order.checkpoint_folder = "/checkpoints";
    return to_json(order);
}

bool is_known(const std::string& text) {
    const TempFolder run;
    run.write("attempt.json", text);
    return knows_order(run.path());
}

TEST(KnownOrder, one_of_this_build_is_known) {
    EXPECT_TRUE(is_known(order().dump()));
}

TEST(KnownOrder, one_with_a_field_or_a_version_of_another_build_is_not) {
    Json changed = order();
    changed["spec"]["train"]["of_tomorrow"] = 1;
    EXPECT_FALSE(is_known(changed.dump()));
    changed = order();
    changed["version"] = protocol_version + 1;
    EXPECT_FALSE(is_known(changed.dump()));
    changed = order();
    changed.erase("dataset");
    EXPECT_FALSE(is_known(changed.dump()));
}

TEST(KnownOrder, what_is_no_order_is_not) {
    EXPECT_FALSE(is_known(""));
    EXPECT_FALSE(is_known("[1"));
    EXPECT_FALSE(is_known("[]"));
    EXPECT_FALSE(is_known(std::string(attempt_order_bytes_max + 1, ' ')));
    EXPECT_FALSE(knows_order("/nowhere"));
}

class OtherBuilds : public AgentBench {};

TEST_F(OtherBuilds, a_job_that_the_executor_cannot_read_is_tried_later_each_time) {
    start_agent();
    auto key = run_job({{"steps", "2"}, {"fail", "wrong_build"}});
    for (const char* least_s : {"5", "15"}) {
        ASSERT_TRUE(reaches(key.job_id, queued));
        EXPECT_EQ(attempt_of(key).exit_kind, "wrong_build");
        const auto job = store::find_job(store, key.job_id);
        EXPECT_EQ(job->reason->code, "wrong_build");
        EXPECT_EQ(job->restarts, 0);
        EXPECT_EQ(database.sql("select not_before > now() + interval '" + std::string(least_s) +
                               " s' from queue"),
                  "t");
        database.sql("update queue set not_before = null");
        key = place(key.job_id);
        agent->wake();
    }
}

}    // namespace
}    // namespace slipway
