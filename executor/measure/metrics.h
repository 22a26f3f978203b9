#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "executor/measure/measurements.h"

namespace slipway {

/// What is measured again and again. Times are in seconds.
enum class Metric : std::uint8_t {
    compile_time,                 ///< of each program made
    device_lock_wait,             ///< from handing a step over until every worker has begun it
    execute_time,                 ///< of each step on the workers
    input_output_alias_count,     ///< donated inputs of each program made
    tensors_graph_size,           ///< nodes of each graph that was compiled or looked up
    trace_time,                   ///< of each graph traced
    transfer_to_device_time,      ///< binding the state and the batch of a step
    transfer_from_device_time,    ///< reading its results
    input_wait_time,              ///< until the next batch was there
    all_reduce_time,              ///< adding up over cores, the slowest worker's
    barrier_wait_time,            ///< of the workers for each other, their mean
};
inline constexpr std::size_t metric_count = 11;

enum class Counter : std::uint8_t {
    cached_compile,            ///< runs of a program that was there already
    create_compile_handles,    ///< programs made, each with a handle that keeps it
    mark_step,                 ///< steps cut off and run
    uncached_compile           ///< programs made
};
inline constexpr std::size_t counter_count = 4;

enum class Unit : std::uint8_t { seconds, number };

/// How a metric is called in reports: the names that users of PyTorch/XLA know.
struct MetricRow {
    Metric metric;
    std::string_view name;
    Unit unit;
};
struct CounterRow {
    Counter counter;
    std::string_view name;
};
/// In alphabetical order, as reports show them.
const std::array<MetricRow, metric_count>& metric_rows();
const std::array<CounterRow, counter_count>& counter_rows();

/// Every metric and counter of one job. One thread.
class Metrics {
public:
    void add(Metric metric, double value, Tick when) { measurements(metric).add(value, when); }
    void count(Counter counter, std::int64_t by = 1) { counters_[std::size_t(counter)] += by; }

    const Measurements& at(Metric metric) const { return measurements_[std::size_t(metric)]; }
    std::int64_t at(Counter counter) const { return counters_[std::size_t(counter)]; }

private:
    Measurements& measurements(Metric metric) { return measurements_[std::size_t(metric)]; }

    std::array<Measurements, metric_count> measurements_;
    std::array<std::int64_t, counter_count> counters_{};
};

}    // namespace slipway
