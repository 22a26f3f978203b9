#include "executor/measure/metrics.h"

namespace slipway {

const std::array<MetricRow, metric_count>& metric_rows() {
    static constexpr std::array<MetricRow, metric_count> rows{{
        {Metric::all_reduce_time, "AllReduceTime", Unit::seconds},
        {Metric::barrier_wait_time, "BarrierWaitTime", Unit::seconds},
        {Metric::compile_time, "CompileTime", Unit::seconds},
        {Metric::device_lock_wait, "DeviceLockWait", Unit::seconds},
        {Metric::execute_time, "ExecuteTime", Unit::seconds},
        {Metric::input_output_alias_count, "InputOutputAliasCount", Unit::number},
        {Metric::input_wait_time, "InputWaitTime", Unit::seconds},
        {Metric::tensors_graph_size, "TensorsGraphSize", Unit::number},
        {Metric::trace_time, "TraceTime", Unit::seconds},
        {Metric::transfer_from_device_time, "TransferFromDeviceTime", Unit::seconds},
        {Metric::transfer_to_device_time, "TransferToDeviceTime", Unit::seconds},
    }};
    return rows;
}

const std::array<CounterRow, counter_count>& counter_rows() {
    static constexpr std::array<CounterRow, counter_count> rows{{
        {Counter::cached_compile, "CachedCompile"},
        {Counter::create_compile_handles, "CreateCompileHandles"},
        {Counter::mark_step, "MarkStep"},
        {Counter::uncached_compile, "UncachedCompile"},
    }};
    return rows;
}

}    // namespace slipway
