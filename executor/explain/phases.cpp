#include "executor/explain/phases.h"

namespace slipway {

const std::array<PhaseRow, phase_count>& phase_rows() {
    static constexpr std::array<PhaseRow, phase_count> rows{{
        {Phase::open_data, "open_data", {}},
        {Phase::trace, "trace", Metric::trace_time},
        {Phase::compile, "compile", {}},    // the engine's own
        {Phase::input_wait, "input_wait", Metric::input_wait_time},
        {Phase::transfer_to_device, "transfer_to_device", {}},    // with the engine's binding
        {Phase::execute, "execute", {}},                          // the engine's own
        {Phase::transfer_from_device, "transfer_from_device", Metric::transfer_from_device_time},
        {Phase::evaluate, "evaluate", {}},
        {Phase::checkpoint, "checkpoint", {}},
    }};
    return rows;
}

}    // namespace slipway
