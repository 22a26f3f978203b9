#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// The percentiles that a report shows.
inline constexpr std::array<int, 9> percentiles{1, 5, 10, 20, 50, 80, 90, 95, 99};

/// What the newest samples say.
struct MeasurementSummary {
    std::int64_t count = 0;    ///< of all samples ever
    double total = 0;          ///< of all samples ever
    /// Over the samples kept, when they span some time: their sum and their number per second.
    double value_rate = 0;
    double rate = 0;
    /// In the order of slipway::percentiles; zeros without measurements.
    std::array<double, percentiles.size()> at{};
};

/// Numbers that come one by one: all are counted and added up, the newest 1024 are kept. Adding one
/// costs a few nanoseconds. One thread.
class Measurements {
public:
    void add(double value, Tick when);
    MeasurementSummary summary() const;
    std::int64_t count() const { return count_; }
    double total() const { return total_; }

private:
    struct Sample {
        double value;
        Tick when;
    };
    std::vector<Sample> kept_;    // a ring once it is full
    std::int64_t count_ = 0;
    double total_ = 0;
};

}    // namespace slipway
