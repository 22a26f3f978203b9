#include "scheduler/store/metrics/bucket.h"

#include <algorithm>
#include <cmath>

namespace slipway::store {

MetricBucket to_bucket(const MetricSample& sample) {
    const bool finite = std::isfinite(sample.value);
    const double value = finite ? sample.value : 0;
    return {.last = sample,
            .min = value,
            .max = value,
            .mean = value,
            .count = 1,
            .nonfinite = finite ? 0 : 1};
}

void add_later(MetricBucket& earlier, const MetricBucket& later) {
    const auto before = double(earlier.finite());
    const auto added = double(later.finite());
    if (before == 0) {
        earlier.min = later.min;
        earlier.max = later.max;
        earlier.mean = later.mean;
    } else if (added > 0) {
        earlier.min = std::min(earlier.min, later.min);
        earlier.max = std::max(earlier.max, later.max);
        // Each is weighted before they are added: a sum of values may be infinite.
        const double all = before + added;
        earlier.mean = earlier.mean * (before / all) + later.mean * (added / all);
    }
    earlier.count += later.count;
    earlier.nonfinite += later.nonfinite;
    earlier.last = later.last;
}

}    // namespace slipway::store
