#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>

#include "api/base/clock.h"

namespace slipway {

/// How many lines of one kind are logged: `burst` at once, then `lines_per_s`. Safe from every
/// thread.
class LogRate {
public:
    LogRate(double lines_per_s, double burst)
        : lines_per_s_(lines_per_s), burst_(burst), room_(burst) {}

    /// None: this line is not to be logged. Else how many lines were suppressed before it.
    std::optional<std::uint64_t> admit(Tick now) {
        const std::lock_guard lock(mutex_);
        const std::chrono::duration<double> passed = now - last_;
        room_ = std::min(burst_, room_ + std::max(passed.count(), 0.0) * lines_per_s_);
        last_ = now;
        if (room_ < 1) {
            ++suppressed_;
            return std::nullopt;
        }
        room_ -= 1;
        const std::uint64_t before = suppressed_;
        suppressed_ = 0;
        return before;
    }

private:
    const double lines_per_s_;
    const double burst_;
    std::mutex mutex_;
    // guarded by mutex_
    double room_;
    Tick last_ = {};
    std::uint64_t suppressed_ = 0;
};

}    // namespace slipway
