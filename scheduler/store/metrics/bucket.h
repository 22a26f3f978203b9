#pragma once

#include <cstdint>

#include "api/base/clock.h"

// What several values of a metric come to.
namespace slipway::store {

/// One value of a metric, as stored.
struct MetricSample {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    double value = 0;    ///< may be NaN or infinite
    int attempt = 0;     ///< that measured it
    Instant time{};      ///< when it was stored, by the database's clock

    bool operator==(const MetricSample&) const = default;
};

/// Successive samples of a metric. A spike between two points shows in `min` and `max`, and a value
/// that is not finite in `nonfinite`.
struct MetricBucket {
    MetricSample last{};    ///< the newest one
    double min = 0;         ///< of the finite values, as are max and mean; 0 if there is none
    double max = 0;
    double mean = 0;
    std::int64_t count = 0;
    std::int64_t nonfinite = 0;

    std::int64_t finite() const { return count - nonfinite; }
};

MetricBucket to_bucket(const MetricSample& sample);

/// `later` goes on where `earlier` ends; an empty `earlier` becomes `later`.
void add_later(MetricBucket& earlier, const MetricBucket& later);

}    // namespace slipway::store
