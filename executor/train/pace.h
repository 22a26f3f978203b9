#pragma once

#include "api/base/clock.h"
#include "executor/train/reporter.h"

namespace slipway {

/// When to say how far a run is, and how fast it goes. Not more than twice a second.
class Pace {
public:
    static constexpr std::chrono::milliseconds pause{500};

    explicit Pace(const Clock& clock) : clock_(clock), started_(clock.tick()), said_(started_) {}

    /// Counts a step of `samples`.
    void step(std::int64_t samples);
    /// At least `pause` since the last time.
    bool due() const;
    /// Fills speed and time left; `now` counts as said.
    void describe(Progress& progress);

private:
    const Clock& clock_;    // outlives this object: the caller's or the machine's
    Tick started_;
    Tick said_;
    std::int64_t steps_ = 0;
    std::int64_t samples_ = 0;
    std::int64_t samples_said_ = 0;
};

}    // namespace slipway
