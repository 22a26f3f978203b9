#pragma once

#include <cstdint>

#include "api/spec/job_spec.h"

namespace slipway {

enum class ScheduleKind { constant, step, cosine, linear, one_cycle };

/// How the learning rate moves. All counts are in optimizer steps.
struct Schedule {
    ScheduleKind kind = ScheduleKind::constant;
    std::int64_t steps_total = 1;
    std::int64_t warmup_steps = 0;    ///< cosine, linear: from lr / warmup up to lr
    std::int64_t period_steps = 1;    ///< step: lr *= gamma each period
    double gamma = 1;
    double min_lr = 0;    ///< cosine: where it ends
    /// one_cycle: it begins at lr / div_factor and ends at the final_div_factor-th part of that.
    double warmup_fraction = 0.3, div_factor = 25, final_div_factor = 1e4;
};

/// The learning rate of step `step` (0-based), in double.
///   step    lr * gamma^(step / period)
///   cosine  min + (lr - min) / 2 * (1 + cos(pi * t)), t from 0 after the warm-up to 1 at the end
///   linear  lr * (1 - t)
///   one_cycle  torch's OneCycleLR with cosines and two phases, the learning rate only (momentum
///              stays): up to lr until step warmup_fraction * total - 1, then down until the last
double lr_at(const Schedule& schedule, double lr, std::int64_t step);

/// The optimizer steps of the whole job. Pure.
std::int64_t steps_of(const JobSpec& spec, std::int64_t steps_per_epoch);

/// The job's schedule. Pure; the steps are those of the spec, or of its epochs, or of `length`.
Schedule schedule_of(const JobSpec& spec, std::int64_t steps_per_epoch);

}    // namespace slipway
