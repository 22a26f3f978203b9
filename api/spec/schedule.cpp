#include "api/spec/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace slipway {

namespace {

/// How far the part after the warm-up has come: 0 to 1.
double fraction_done(const Schedule& schedule, std::int64_t step) {
    const std::int64_t length =
        std::max<std::int64_t>(1, schedule.steps_total - schedule.warmup_steps);
    return std::clamp(double(step - schedule.warmup_steps) / double(length), 0.0, 1.0);
}

/// From `from` to `to` along a half wave, the way done being `part` of `whole`; there at once when
/// there is no way.
double half_wave(double from, double to, double part, double whole) {
    const double done = whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 1.0;
    return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * done));
}

double one_cycle(const Schedule& schedule, double lr, std::int64_t step) {
    const double first = lr / schedule.div_factor;
    const double last = first / schedule.final_div_factor;
    const double peak = schedule.warmup_fraction * double(schedule.steps_total) - 1;
    const auto at = double(step);
    if (at <= peak) return half_wave(first, lr, at, peak);
    return half_wave(lr, last, at - peak, double(schedule.steps_total - 1) - peak);
}

ScheduleKind kind_of(ScheduleName name) {
    switch (name) {
        case ScheduleName::constant:
            return ScheduleKind::constant;
        case ScheduleName::step:
            return ScheduleKind::step;
        case ScheduleName::cosine:
            return ScheduleKind::cosine;
        case ScheduleName::linear:
            return ScheduleKind::linear;
        case ScheduleName::one_cycle:
            return ScheduleKind::one_cycle;
    }
    return ScheduleKind::constant;
}

}    // namespace

double lr_at(const Schedule& schedule, double lr, std::int64_t step) {
    if (step < schedule.warmup_steps) {
        return lr * double(step + 1) / double(schedule.warmup_steps);
    }
    switch (schedule.kind) {
        case ScheduleKind::constant:
            return lr;
        case ScheduleKind::step: {
            const std::int64_t periods = step / schedule.period_steps;
            return lr * std::pow(schedule.gamma, double(periods));
        }
        case ScheduleKind::cosine: {
            const double wave = std::cos(std::numbers::pi * fraction_done(schedule, step));
            return schedule.min_lr + (lr - schedule.min_lr) / 2 * (1 + wave);
        }
        case ScheduleKind::linear:
            return lr * (1 - fraction_done(schedule, step));
        case ScheduleKind::one_cycle:
            return one_cycle(schedule, lr, step);
    }
    return lr;
}

std::int64_t steps_of(const JobSpec& spec, std::int64_t steps_per_epoch) {
    return spec.train.steps ? *spec.train.steps : *spec.train.epochs * steps_per_epoch;
}

Schedule schedule_of(const JobSpec& spec, std::int64_t steps_per_epoch) {
    const ScheduleSpec& schedule = spec.train.schedule;
    const std::int64_t unit = spec.train.steps ? 1 : steps_per_epoch;
    return {
        .kind = kind_of(schedule.name),
        .steps_total = schedule.length ? *schedule.length * unit : steps_of(spec, steps_per_epoch),
        .warmup_steps = schedule.warmup_steps,
        .period_steps = schedule.step_epochs * steps_per_epoch,
        .gamma = schedule.gamma,
        .min_lr = schedule.min_lr,
        .warmup_fraction = schedule.warmup_fraction,
        .div_factor = schedule.div_factor,
        .final_div_factor = schedule.final_div_factor};
}

}    // namespace slipway
