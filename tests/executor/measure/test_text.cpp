#include "executor/measure/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace slipway {
namespace {

// The left column is from a report that PyTorch/XLA's users published.
TEST(Text, times_are_written_in_parts) {
    EXPECT_EQ(format_parts(28.920153731), "28s920ms153.731us");
    EXPECT_EQ(format_parts(0.092152037), "092ms152.037us");
    EXPECT_EQ(format_parts(262.555668071), "04m22s555ms668.071us");
    EXPECT_EQ(format_parts(3.640888060), "03s640ms888.060us");
    EXPECT_EQ(format_parts(2.895e-6), "002.895us");
    EXPECT_EQ(format_parts(0), "000.000us");
    EXPECT_EQ(format_parts(-1), "000.000us");
    EXPECT_EQ(format_parts(90061.000001), "01d01h01m01s000ms001.000us");
    EXPECT_EQ(format_parts(0.9999999999), "01s000ms000.000us");
}

TEST(Text, a_report_reads_as_its_users_know_it) {
    Metrics metrics;
    for (int i = 0; i < 4; ++i)
        metrics.add(Metric::compile_time, 0.25, Tick(std::chrono::seconds(i)));
    metrics.add(Metric::input_output_alias_count, 12, Tick());
    metrics.count(Counter::cached_compile, 1215);
    metrics.count(Counter::uncached_compile);
    EXPECT_EQ(metrics_text(metrics),
              "Metric: CompileTime\n"
              "  TotalSamples: 4\n"
              "  Accumulator: 01s000ms000.000us\n"
              "  ValueRate: 333ms333.333us / second\n"
              "  Rate: 1.33333 / second\n"
              "  Percentiles: 1%=250ms000.000us; 5%=250ms000.000us; 10%=250ms000.000us; "
              "20%=250ms000.000us; 50%=250ms000.000us; 80%=250ms000.000us; 90%=250ms000.000us; "
              "95%=250ms000.000us; 99%=250ms000.000us\n"
              "Metric: InputOutputAliasCount\n"
              "  TotalSamples: 1\n"
              "  Accumulator: 12.00\n"
              "  Percentiles: 1%=12.00; 5%=12.00; 10%=12.00; 20%=12.00; 50%=12.00; 80%=12.00; "
              "90%=12.00; 95%=12.00; 99%=12.00\n"
              "Counter: CachedCompile\n"
              "  Value: 1215\n"
              "Counter: UncachedCompile\n"
              "  Value: 1\n");
}

TEST(Text, each_metric_and_counter_has_one_row_and_rows_are_sorted) {
    for (std::size_t i = 0; i < metric_count; ++i)
        EXPECT_EQ(std::ranges::count(metric_rows(), Metric(i), &MetricRow::metric), 1) << i;
    for (std::size_t i = 0; i < counter_count; ++i)
        EXPECT_EQ(std::ranges::count(counter_rows(), Counter(i), &CounterRow::counter), 1) << i;
    EXPECT_TRUE(std::ranges::is_sorted(metric_rows(), {}, &MetricRow::name));
    EXPECT_TRUE(std::ranges::is_sorted(counter_rows(), {}, &CounterRow::name));
}

}    // namespace
}    // namespace slipway
