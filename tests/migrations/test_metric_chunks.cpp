#include <gtest/gtest.h>

#include <cmath>

#include "migrations/migrate.h"
#include "scheduler/store/metrics/chunk.h"
#include "scheduler/store/metrics/curve.h"
#include "tests/support/temp_folder.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

using store::MetricBucket;
using store::MetricSample;

// The first build had a row for each point; take_over.sql makes chunks of them. There is no job:
// the triggers of its foreign key are off.
class MetricChunks : public ::testing::Test {
protected:
    MetricChunks() {
        database.sql(read_file(SLIPWAY_SOURCE_DIR "/tests/migrations/first_build.sql"));
        database.sql("alter table metric_point disable trigger all");
    }

    /// 1,200 points of one metric, some of them no numbers, and one of another.
    void insert_points() const {
        database.sql(R"(
            insert into metric_point (job_id, name, step, epoch, value, attempt, at)
            select 'job_a', 'loss', step, step / 100,
                   case step when 5 then 'nan' when 6 then '-infinity' when 7 then 4.9e-324
                             when 8 then -1.7e308 when 9 then 0 else sin(step) end,
                   1 + step / 1000, '2026-01-01'::timestamptz + step * interval '1.5 seconds'
            from generate_series(1, 1200) as step;
            insert into metric_point (job_id, name, step, epoch, value, attempt, at)
            values ('job_a', 'val_loss', 600, 6, 0.25, 1, '2026-01-01'))");
    }

    TempDatabase database{true};
};

TEST_F(MetricChunks, points_are_the_same_in_chunks) {
    insert_points();
    up(database.url());
    EXPECT_EQ(database.sql("select count(*) from metric_chunk where summary is not null"), "2");
    store::Store store({.database = database.url()});
    const store::CurveSize all{.buckets_max = 5000, .points_max = 5000};
    const store::Curve curve = store::read_curve(store, "job_a", "loss", {}, all);
    ASSERT_EQ(curve.buckets.size(), 1200U);
    for (int i = 0; i < 1200; ++i) {
        const MetricSample& sample = curve.buckets[std::size_t(i)].last;
        ASSERT_EQ(sample.step, i + 1);
        EXPECT_EQ(sample.epoch, (i + 1) / 100);
        EXPECT_EQ(sample.attempt, 1 + (i + 1) / 1000);
        if (i > 8) {
            EXPECT_NEAR(sample.value, std::sin(i + 1), 1e-15);
        }
    }
    EXPECT_TRUE(std::isnan(curve.buckets[4].last.value));
    EXPECT_EQ(curve.buckets[5].last.value, -HUGE_VAL);
    EXPECT_EQ(curve.buckets[6].last.value, 4.9e-324);
    EXPECT_EQ(curve.buckets[7].last.value, -1.7e308);
    EXPECT_EQ(to_rfc3339(curve.buckets[0].last.time), "2026-01-01T00:00:01.500000Z");
}

// Goal: the summaries that the step writes are those that the store would.
TEST_F(MetricChunks, summaries_are_those_of_their_points) {
    insert_points();
    up(database.url());
    store::Store store({.database = database.url()});
    const auto curve = [&](std::int64_t most) {
        return store::read_curve(store, "job_a", "loss", {}, {most, most}).buckets;
    };
    const std::vector<MetricBucket> points = curve(5000);
    database.sql("update metric_chunk set data = '\\x' where summary is not null");
    const std::string bytes = database.sql(
        "select encode(string_agg(summary, '' order by step_first), 'hex') from metric_chunk");
    std::string raw;
    for (std::size_t i = 0; i < bytes.size(); i += 2)
        raw += char(std::stoi(bytes.substr(i, 2), nullptr, 16));
    const std::vector<MetricBucket> summaries = store::decode_summaries(raw);
    ASSERT_EQ(summaries.size(), 2U);
    for (std::size_t chunk = 0; chunk < 2; ++chunk) {
        MetricBucket wanted;
        for (std::size_t i = 512 * chunk; i < 512 * (chunk + 1); ++i)
            add_later(wanted, points[i]);
        EXPECT_EQ(summaries[chunk].last, wanted.last);
        EXPECT_EQ(summaries[chunk].min, wanted.min);
        EXPECT_EQ(summaries[chunk].max, wanted.max);
        EXPECT_NEAR(summaries[chunk].mean, wanted.mean, std::abs(wanted.mean) * 1e-12);
        EXPECT_EQ(summaries[chunk].count, 512);
        EXPECT_EQ(summaries[chunk].nonfinite, wanted.nonfinite);
    }
}

}    // namespace

}    // namespace slipway::migrations
