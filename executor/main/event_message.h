#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "executor/train/reporter.h"

namespace slipway {

// TensorBoard's messages: tensorflow/core/util/event.proto and core/framework/summary.proto, as
// proto3 writes them.

/// The first event of every file: "brain.Event:2".
std::string version_event(double wall_time);
/// Whoever reads on forgets events of `step` and later ones, which earlier files may have.
std::string restart_event(double wall_time, std::int64_t step);
/// A summary with one scalar (simple_value, f32) for each value of the point.
std::string scalars_event(double wall_time, const MetricPoint& point);

/// The step of a serialised event; 0 where it has none, nothing when it is no event.
std::optional<std::int64_t> step_of_event(std::span<const std::byte> event);

}    // namespace slipway
