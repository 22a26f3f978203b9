#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "executor/measure/metrics.h"

namespace slipway {

/// What the training thread does, one thing at a time. What is left is `other` in the report.
enum class Phase : std::uint8_t {
    open_data,
    trace,
    compile,
    input_wait,
    transfer_to_device,
    execute,    ///< of training steps
    transfer_from_device,
    evaluate,
    checkpoint
};
inline constexpr std::size_t phase_count = 9;

struct PhaseRow {
    Phase phase;
    std::string_view name;
    std::optional<Metric> metric;    ///< that each of them is a sample of
};
const std::array<PhaseRow, phase_count>& phase_rows();

/// Seconds spent in each phase, by Phase.
using PhaseSeconds = std::array<double, phase_count>;

inline double at(const PhaseSeconds& seconds, Phase phase) {
    return seconds[std::size_t(phase)];
}

}    // namespace slipway
