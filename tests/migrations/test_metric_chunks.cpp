#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "migrations/migrate.h"
#include "scheduler/store/metrics/chunk.h"
#include "scheduler/store/metrics/curve.h"
#include "tests/support/temp_postgres.h"

namespace slipway::migrations {

namespace {

using store::MetricBucket;
using store::MetricSample;

// The step from a row for each point to chunks (0040), and back. Points of a job of the older
// schema; the trigger that looks for the job is off.
class MetricChunks : public ::testing::Test {
protected:
    MetricChunks() {
        up(database.url(), 39);
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

    std::string points_digest() const {
        return database.sql(
            "select md5(string_agg(metric_point::text, '|' order by name, step)) "
            "from metric_point");
    }

    TempDatabase database{true};
};

TEST_F(MetricChunks, points_are_the_same_in_chunks_and_back_in_rows) {
    insert_points();
    const std::string before = points_digest();
    up(database.url(), 40);
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
    down(database.url(), 39);
    EXPECT_EQ(points_digest(), before);
}

// Goal: the summaries that the step writes are those that the store would.
TEST_F(MetricChunks, summaries_are_those_of_their_points) {
    insert_points();
    up(database.url(), 40);
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

// Goal: what the store wrote comes back as rows. Method: a chunk of each form of its values.
TEST_F(MetricChunks, chunks_of_the_store_come_back_as_rows) {
    up(database.url(), 40);
    database.sql("alter table metric_chunk disable trigger all");
    std::vector<MetricSample> samples;
    for (std::int64_t i = 0; i < 300; ++i)
        samples.push_back({.step = 1000 + 10 * i + i % 3,
                           .epoch = i / 10,
                           .value = i == 3 ? std::nan("") : double(i) / 8 - 5,
                           .attempt = 2,
                           .time = Instant(std::chrono::milliseconds(1'700'000'000'123 + i))});
    std::map<std::string, std::string> wanted;
    for (const std::string name : {"floats", "doubles"}) {
        if (name == "doubles") samples[10].value = 0.1;
        std::string hexadecimal;
        for (const char c : store::encode_samples(samples))
            hexadecimal += fmt::format("{:02x}", std::uint8_t(c));
        database.sql(fmt::format(
            "insert into metric_chunk (job_id, name, first_point, points, step_first, step_last, "
            "attempt, data) values ('job_a', '{}', 0, 300, {}, {}, 2, '\\x{}')",
            name, samples.front().step, samples.back().step, hexadecimal));
        for (const MetricSample& sample : samples)
            wanted[name] +=
                fmt::format("{} {} {} 2 {};", sample.step, sample.epoch,
                            std::isnan(sample.value) ? "NaN" : fmt::format("{}", sample.value),
                            sample.time.time_since_epoch().count());
    }
    down(database.url(), 39);
    for (const auto& [name, rows] : wanted)
        EXPECT_EQ(database.sql(fmt::format(
                      "select string_agg(format('%s %s %s %s %s', step, epoch, value, attempt, "
                      "(extract(epoch from at) * 1000000)::bigint), ';' order by step) || ';' "
                      "from metric_point where name = '{}'",
                      name)),
                  rows);
}

}    // namespace

}    // namespace slipway::migrations
