#include "scheduler/store/metrics/curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "scheduler/store/metrics/chunk.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

constexpr std::int64_t step_max = std::numeric_limits<std::int64_t>::max();

class Curves : public StoreTest {
protected:
    Curves() { key = running_job(); }

    /// Reports values of steps as one batch, and keeps what must be read.
    void report(const std::vector<std::pair<std::int64_t, double>>& points) {
        RelayedFrame frame{.number = ++frame_};
        for (const auto& [step, value] : points)
            frame.metrics.push_back({"loss", step, step / 10, value});
        expected.erase(expected.lower_bound(points.front().first), expected.end());
        for (const auto& [step, value] : points)
            expected[step] = value;
        relay_frames(store, key, {frame}, series);
    }

    void report_range(std::int64_t first, std::int64_t last) {
        std::vector<std::pair<std::int64_t, double>> points;
        for (std::int64_t step = first; step <= last; ++step)
            points.emplace_back(step, value_of(step));
        report(points);
    }

    static double value_of(std::int64_t step) {
        if (step % 997 == 5) return std::nan("");
        return step % 1009 == 6 ? HUGE_VAL : std::sin(double(step));
    }

    void expect_as_reported() {
        const auto samples = samples_of(key.job_id, "loss");
        ASSERT_EQ(samples.size(), expected.size());
        auto wanted = expected.begin();
        for (const MetricSample& sample : samples) {
            ASSERT_EQ(sample.step, wanted->first);
            if (!std::isnan(wanted->second)) {
                EXPECT_EQ(sample.value, wanted->second);
            }
            ++wanted;
        }
    }

    /// What must hold of any curve of the range, by the points that were reported.
    void expect_sums_up(const StepRange& range, std::int64_t buckets_max) {
        const Curve curve = read_curve(store, key.job_id, "loss", range,
                                       {.buckets_max = buckets_max, .points_max = buckets_max});
        ASSERT_LE(std::ssize(curve.buckets), buckets_max);
        auto point = expected.lower_bound(range.first);
        const auto end = expected.upper_bound(range.last);
        const auto points = std::int64_t(std::distance(point, end));
        if (points > buckets_max) {
            EXPECT_GE(2 * std::ssize(curve.buckets) + 4, buckets_max);
        } else if (!curve.summarised) {
            EXPECT_EQ(std::ssize(curve.buckets), points);
        }
        for (const MetricBucket& bucket : curve.buckets) {
            MetricBucket wanted;
            for (std::int64_t i = 0; i < bucket.count; ++i, ++point) {
                ASSERT_NE(point, end);
                add_later(wanted, to_bucket({.step = point->first, .value = point->second}));
            }
            EXPECT_EQ(bucket.last.step, wanted.last.step);
            EXPECT_EQ(bucket.min, wanted.min);
            EXPECT_EQ(bucket.max, wanted.max);
            EXPECT_NEAR(bucket.mean, wanted.mean, 1e-12);
            EXPECT_EQ(bucket.nonfinite, wanted.nonfinite);
        }
        EXPECT_EQ(point, end);
    }

    std::int64_t chunks(const std::string& condition = "true") const {
        return count("metric_chunk where " + condition);
    }

    AttemptKey key;
    MetricSeries series;
    std::map<std::int64_t, double> expected;

private:
    std::int64_t frame_ = 2;    // of running_job
};

TEST_F(Curves, points_that_come_alone_are_written_together) {
    for (std::int64_t step = 1; step <= 1200; ++step)
        report({{step, value_of(step)}});
    expect_as_reported();
    EXPECT_EQ(chunks("summary is not null"), 2);
    EXPECT_LE(chunks(), 2 + 33);
    EXPECT_EQ(chunks("summary is null and points > 512"), 0);
}

// Goal: batches of any size, resumed attempts and forgotten states give the curve that was
// reported. Method: 300 random batches; one in ten goes back to a random step, one in ten comes to
// a relay that knows nothing.
TEST_F(Curves, are_what_was_reported) {
    std::mt19937 random(3);
    std::int64_t step = 0;
    for (int i = 0; i < 300; ++i) {
        if (random() % 10 == 0) series = {};
        if (random() % 10 == 0) step = std::int64_t(random() % std::uint32_t(step + 1));
        const std::int64_t size = random() % 4 == 0 ? 1 + random() % 1500 : 1 + random() % 5;
        std::vector<std::pair<std::int64_t, double>> points;
        for (std::int64_t j = 0; j < size; ++j) {
            step += 1 + std::int64_t(random() % 3);
            points.emplace_back(step, value_of(step));
        }
        report(points);
        if (i % 20 == 0) expect_as_reported();
    }
    expect_as_reported();
    EXPECT_EQ(chunks("summary is null and points >= 512"), 0);
    EXPECT_GT(chunks("summary is not null"), 10);
    for (const StepRange& range :
         {StepRange{}, StepRange{step / 3, step / 2}, StepRange{step / 3, step_max},
          StepRange{step / 3, step / 3}, StepRange{step + 1, step_max}})
        for (const std::int64_t buckets : {1, 2, 7, 64, 1000, 1'000'000})
            expect_sums_up(range, buckets);
}

// Goal: a curve whose summaries are kept together reads as its points say.
// Method: 600,000 points are two rollups, some full chunks and a rest.
TEST_F(Curves, of_many_points_are_read_from_their_summaries) {
    for (std::int64_t step = 0; step < 600'000; step += 50'000)
        report_range(step, step + 49'999);
    EXPECT_EQ(count("metric_rollup"), 2);
    expect_sums_up({}, 1000);
    expect_sums_up({}, 10);
    expect_sums_up({1000, 599'000}, 1);
    expect_sums_up({300'000, 400'000}, 100);
    expect_sums_up({}, 2000);
    // An attempt resumes within the second rollup.
    report_range(300'000, 300'100);
    EXPECT_EQ(count("metric_rollup"), 1);
    expect_as_reported();
    expect_sums_up({}, 500);
    for (std::int64_t step = 300'101; step < 540'101; step += 60'000)
        report_range(step, step + 59'999);
    EXPECT_EQ(count("metric_rollup"), 2);
    expect_sums_up({}, 500);
}

TEST_F(Curves, of_one_point_of_none_and_of_the_largest_steps) {
    EXPECT_TRUE(samples_of(key.job_id, "loss").empty());
    report({{0, std::nan("")}});
    report({{step_max, 2}});
    const Curve both = read_curve(store, key.job_id, "loss", {}, {1, 1});
    ASSERT_EQ(both.buckets.size(), 1U);
    EXPECT_TRUE(both.summarised);
    EXPECT_EQ(both.buckets[0].nonfinite, 1);
    EXPECT_EQ(both.buckets[0].last.step, step_max);
    EXPECT_EQ(both.buckets[0].max, 2);
    EXPECT_EQ(samples_of(key.job_id, "loss", {.first = 1}).size(), 1U);
    EXPECT_TRUE(samples_of(key.job_id, "loss", {.first = 1, .last = 5}).empty());
    EXPECT_TRUE(samples_of(key.job_id, "other").empty());
}

// Goal: a relay that did not hear whether its batch was stored goes on from what is stored.
TEST_F(Curves, a_state_that_is_behind_the_database_is_read_again) {
    report_range(1, 100);
    const MetricSeries behind = series;
    report_range(101, 200);
    series = behind;
    report_range(201, 300);
    expect_as_reported();
}

TEST_F(Curves, names_are_listed_in_order) {
    report({{1, 0.5}});
    RelayedFrame frame{.number = 99, .metrics = {{"accuracy", 1, 1, 0.5}, {"val_loss", 1, 1, 0.5}}};
    relay_frames(store, key, {frame}, series);
    EXPECT_EQ(list_metric_names(store, key.job_id, 10),
              (std::vector<std::string>{"accuracy", "loss", "val_loss"}));
    EXPECT_EQ(list_metric_names(store, key.job_id, 1), std::vector<std::string>{"accuracy"});
    EXPECT_TRUE(list_metric_names(store, new_id("job"), 10).empty());
}

}    // namespace

}    // namespace slipway::store
