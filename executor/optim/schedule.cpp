#include "executor/optim/schedule.h"

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
    }
    return lr;
}

}    // namespace slipway
