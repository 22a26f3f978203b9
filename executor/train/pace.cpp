#include "executor/train/pace.h"

#include <algorithm>

namespace slipway {

namespace {

double seconds_between(Tick from, Tick to) {
    return std::chrono::duration<double>(to - from).count();
}

}    // namespace

void Pace::step(std::int64_t samples) {
    ++steps_;
    samples_ += samples;
}

bool Pace::due() const {
    return clock_.tick() - said_ >= pause;
}

void Pace::describe(Progress& progress) {
    const Tick now = clock_.tick();
    // The last words of an epoch follow the ones before at once: then the whole run says how fast
    // it is.
    const bool short_window = now - said_ < std::chrono::milliseconds(200);
    const double total_s = std::max(1e-3, seconds_between(started_, now));
    progress.samples_per_s = short_window
                                 ? double(samples_) / total_s
                                 : double(samples_ - samples_said_) / seconds_between(said_, now);
    if (steps_ > 0) {
        const double step_s = total_s / double(steps_);
        progress.eta_s = step_s * double(progress.steps_total - progress.step);
    }
    said_ = now;
    samples_said_ = samples_;
}

}    // namespace slipway
