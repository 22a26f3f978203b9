#pragma once

#include <atomic>

#include "api/base/clock.h"

namespace slipway {

/// A clock that the test moves. Safe from every thread.
class HandClock final : public Clock {
public:
    explicit HandClock(Instant start = Instant{std::chrono::hours(24)}) : start_(start) {}

    Instant now() const override { return start_ + passed_.load(); }
    Tick tick() const override { return Tick{std::chrono::hours(1)} + passed_.load(); }
    void advance(std::chrono::milliseconds by) { passed_ = passed_.load() + by; }

private:
    const Instant start_;
    std::atomic<std::chrono::milliseconds> passed_{};
};

}    // namespace slipway
