#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/queries.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class QueuePlans : public StoreTest {
protected:
    /// Pages that a pass of the planner touches, as the store asks for it: by a plan that is kept,
    /// with where the shapes began at the pass before.
    std::int64_t pages_of_next_pass() const {
        constexpr const char* call =
            "execute list (8, null, null, '{default}', '{\"\"}', '{\"\"}', '{1000}', '{2}', "
            "array[now() - interval '1 hour'], now())";
        const std::string plan = database.sql(
            fmt::format("set jit = off; set plan_cache_mode = force_generic_plan; "
                        "prepare list as {}; explain (analyze, buffers, format json) {}",
                        queries::list_ready_jobs.sql, call));
        const nlohmann::json root = nlohmann::json::parse(plan).at(0).at("Plan");
        return root.at("Shared Hit Blocks").get<std::int64_t>() +
               root.at("Shared Read Blocks").get<std::int64_t>();
    }
};

// Goal: a pass costs what can start, however many jobs are ready. Once it read all of an index for
// the few jobs that had come since the pass before.
TEST_F(QueuePlans, a_pass_does_not_read_the_whole_queue) {
    const std::string dataset = ready_dataset();
    insert_jobs(1000, dataset, "cores", "1");
    database.sql("update queue set queued_at = queued_at - interval '1 hour'");
    database.sql("vacuum analyze queue");
    const std::int64_t short_queue = pages_of_next_pass();
    insert_jobs(30000, dataset, "cores, not_before",
                "1, case when n % 2 = 0 then '2100-01-01'::timestamptz end");
    database.sql("update queue set queued_at = queued_at - interval '1 hour'");
    for (const char* statistics : {"vacuum analyze queue", "vacuum full queue", "analyze queue"}) {
        database.sql(statistics);
        EXPECT_LE(pages_of_next_pass(), 2 * short_queue + 20) << statistics;
    }
}

}    // namespace

}    // namespace slipway::store
