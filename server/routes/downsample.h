#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "api/base/clock.h"

namespace slipway {

/// One value of a metric, as stored.
struct MetricSample {
    std::int64_t step = 0;
    std::int64_t epoch = 0;
    double value = 0;    ///< may be NaN or infinite
    Instant time;
};

/// What a stretch of steps comes to. Nothing is averaged: a spike between two points shows in `min`
/// and `max`, and a value that is not finite in `nonfinite`.
struct MetricBucket {
    MetricSample last;    ///< the newest sample of the stretch
    double min = 0;       ///< of the finite values; both 0 when there is none
    double max = 0;
    std::int64_t count = 0;
    std::int64_t nonfinite = 0;
};

/// Samples in the order of steps, put into at most `buckets_max` stretches of equal length. With
/// fewer samples than that each is a stretch of its own. Empty stretches are left out, the last
/// sample is always the last stretch's `last`. Pure.
std::vector<MetricBucket> downsample(std::span<const MetricSample> samples,
                                     std::size_t buckets_max);

}    // namespace slipway
