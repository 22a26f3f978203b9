#include "scheduler/store/curves.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

class Curves : public StoreTest {
protected:
    Curves() {
        add_host();
        key = running_job();
    }

    void insert(const std::string& select) {
        database.sql(
            "insert into metric_point (job_id, name, step, epoch, value, attempt) select '" +
            key.job_id + "', 'loss', " + select);
    }

    std::vector<CurveStretch> stretches(std::int64_t most, std::int64_t at_once,
                                        const StepRange& range = {}) {
        const CurveExtent extent = measure_curve(store, key.job_id, "loss", range, 1000000);
        return list_stretches(store, key.job_id, "loss", extent, most, at_once);
    }

    AttemptKey key;
};

// Goal: however a curve is cut into statements, its stretches are the same.
TEST_F(Curves, are_added_up_in_parts_of_any_size) {
    insert(
        "step, 1, case step % 97 when 5 then 'nan' when 6 then 'infinity' else sin(step) end, 1 "
        "from generate_series(1, 1000) as step where step % 7 > 0");
    const auto whole = stretches(10, 100000);
    ASSERT_EQ(whole.size(), 10U);
    std::int64_t nonfinite = 0;
    for (const std::int64_t at_once : {1, 3, 85, 86, 857, 858}) {
        const auto parts = stretches(10, at_once);
        ASSERT_EQ(parts.size(), 10U) << at_once;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            EXPECT_EQ(parts[i].last.step, whole[i].last.step);
            EXPECT_EQ(parts[i].count, whole[i].count);
            EXPECT_EQ(parts[i].min, whole[i].min);
            EXPECT_EQ(parts[i].max, whole[i].max);
            EXPECT_EQ(parts[i].nonfinite, whole[i].nonfinite);
        }
    }
    for (const CurveStretch& each : whole)
        nonfinite += each.nonfinite;
    EXPECT_EQ(nonfinite, count("metric_point where not abs(value) < 'infinity'"));
    EXPECT_EQ(whole[0].last.step, 100);
    EXPECT_EQ(whole.back().last.step, 1000);
}

TEST_F(Curves, of_one_point_of_none_and_of_the_largest_steps) {
    EXPECT_EQ(measure_curve(store, key.job_id, "loss", {}, 10).points, 0);
    constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max() - 1;
    insert("0, 1, 'nan', 1");
    insert("9223372036854775806, 1, 2, 1");
    const auto both = stretches(200000, 10);
    ASSERT_EQ(both.size(), 2U);
    EXPECT_EQ(both[0].nonfinite, 1);
    EXPECT_EQ(both[1].last.step, last);
    EXPECT_EQ(both[1].max, 2);
    EXPECT_EQ(stretches(10, 10, {.first = 1}).size(), 1U);
    EXPECT_TRUE(stretches(10, 10, {.first = 1, .last = 5}).empty());
    EXPECT_EQ(measure_curve(store, key.job_id, "loss", {}, 1).points, 1) << "counted no further";
}

}    // namespace

}    // namespace slipway::store
