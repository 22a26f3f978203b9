#pragma once

#include "scheduler/store/events.h"

// Curves of any length in bounded memory.
namespace slipway::store {

/// Which points of a metric: both ends included.
struct StepRange {
    std::int64_t first = 0;
    std::optional<std::int64_t> last{};
};

/// Where the points of a metric within a range begin and end.
struct CurveExtent {
    std::int64_t step_first = 0;
    std::int64_t step_last = 0;
    std::int64_t points = 0;    ///< counted up to `count_max`; 0: there is none
};

CurveExtent measure_curve(Store& store, std::string_view job_id, std::string_view name,
                          const StepRange& range, std::int64_t count_max);

/// A stretch of a curve. Nothing is averaged, so that a spike is never lost.
struct CurveStretch {
    MetricPoint last;    ///< the newest point of the stretch
    double min = 0;      ///< of the finite values; both 0 when there is none
    double max = 0;
    std::int64_t count = 0;
    std::int64_t nonfinite = 0;
};

/// All points of the extent in at most `stretches_max` stretches of equally many steps, in order;
/// empty ones are left out, and the newest point is the last stretch's `last`. The database adds up
/// `points_at_once` points in each statement, so that a curve's length is not bounded by the time
/// that one statement may take: 2,000,000 points are 4 statements.
std::vector<CurveStretch> list_stretches(Store& store, std::string_view job_id,
                                         std::string_view name, const CurveExtent& extent,
                                         std::int64_t stretches_max,
                                         std::int64_t points_at_once = 500000);

}    // namespace slipway::store
