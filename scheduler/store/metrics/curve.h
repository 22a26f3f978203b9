#pragma once

#include <limits>

#include "scheduler/store/metrics/bucket.h"
#include "scheduler/store/store.h"

// Curves of any length in bounded memory.
namespace slipway::store {

/// Which points of a metric: both ends included.
struct StepRange {
    std::int64_t first = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
};

struct CurveSize {
    std::int64_t buckets_max = 0;    ///< at least 1
    /// Every point is a bucket of its own unless there are more than so many; not above
    /// buckets_max.
    std::int64_t points_max = 0;
};

struct Curve {
    std::vector<MetricBucket> buckets{};    ///< in the order of steps; none is empty
    bool summarised = false;                ///< a bucket may stand for several points
};

/// The points of the range, each as a bucket; or in buckets of a power of two of points, as few as
/// give at most `buckets_max`, so that there are more than half as many unless there are fewer
/// points. The first and the last bucket may hold fewer points. A curve of 20,000,000 points is
/// read from the summaries of its chunks. Points that are added or replaced meanwhile may show or
/// not.
Curve read_curve(Store& store, std::string_view job_id, std::string_view name,
                 const StepRange& range, const CurveSize& size);

/// The first names of a job's metrics, sorted; at most `names_max`.
std::vector<std::string> list_metric_names(Store& store, std::string_view job_id,
                                           std::int64_t names_max);

}    // namespace slipway::store
