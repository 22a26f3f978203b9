#include "server/routes/downsample.h"

#include <algorithm>
#include <cmath>

namespace slipway {
namespace {

void add(MetricBucket& bucket, const MetricSample& sample) {
    bucket.last = sample;
    ++bucket.count;
    if (!std::isfinite(sample.value)) {
        ++bucket.nonfinite;
        return;
    }
    const bool first = bucket.count - bucket.nonfinite == 1;
    bucket.min = first ? sample.value : std::min(bucket.min, sample.value);
    bucket.max = first ? sample.value : std::max(bucket.max, sample.value);
}

}    // namespace

std::vector<MetricBucket> downsample(std::span<const MetricSample> samples,
                                     std::size_t buckets_max) {
    std::vector<MetricBucket> buckets;
    if (samples.empty() || buckets_max == 0) return buckets;
    const bool each_alone = samples.size() <= buckets_max;
    const double first = static_cast<double>(samples.front().step);
    const double span = static_cast<double>(samples.back().step) - first + 1;
    std::size_t filled = 0;    // number of the stretch that buckets.back() is
    for (const MetricSample& sample : samples) {
        const double share = (static_cast<double>(sample.step) - first) / span;
        const auto at = std::min(
            buckets_max - 1, static_cast<std::size_t>(share * static_cast<double>(buckets_max)));
        if (buckets.empty() || each_alone || at != filled) buckets.emplace_back();
        filled = at;
        add(buckets.back(), sample);
    }
    return buckets;
}

}    // namespace slipway
