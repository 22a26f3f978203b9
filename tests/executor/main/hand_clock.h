#pragma once

#include "api/base/clock.h"

namespace slipway {

/// A clock that the test moves. One thread.
class HandClock final : public Clock {
public:
    Instant now() const override { return now_; }
    Tick tick() const override { return tick_; }
    void advance(std::chrono::milliseconds by) {
        now_ += by;
        tick_ += by;
    }

private:
    Instant now_{std::chrono::hours(24)};
    Tick tick_{std::chrono::hours(1)};
};

}    // namespace slipway
