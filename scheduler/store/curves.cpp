#include "scheduler/store/curves.h"

#include <algorithm>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

CurveStretch read_stretch(std::string_view name, const Row& row) {
    return {.last = {std::string(name), row.integer("step"), row.integer("epoch"),
                     row.number("value"), row.small("attempt"), row.time("at")},
            .min = row.maybe_number("min").value_or(0),
            .max = row.maybe_number("max").value_or(0),
            .count = row.integer("points"),
            .nonfinite = row.integer("nonfinite")};
}

/// `later` goes on where `earlier` was cut.
void add_later(CurveStretch& earlier, const CurveStretch& later) {
    const bool earlier_has = earlier.count > earlier.nonfinite;
    const bool later_has = later.count > later.nonfinite;
    if (later_has) {
        earlier.min = earlier_has ? std::min(earlier.min, later.min) : later.min;
        earlier.max = earlier_has ? std::max(earlier.max, later.max) : later.max;
    }
    earlier.count += later.count;
    earlier.nonfinite += later.nonfinite;
    earlier.last = later.last;
}

}    // namespace

CurveExtent measure_curve(Store& store, std::string_view job_id, std::string_view name,
                          const StepRange& range, std::int64_t count_max) {
    const Rows rows = read(store.pool(), queries::measure_curve,
                           {job_id, name, range.first, range.last, count_max});
    const Row row = rows[0];
    return {.step_first = row.maybe_integer("step_first").value_or(0),
            .step_last = row.maybe_integer("step_last").value_or(0),
            .points = row.integer("points")};
}

std::vector<CurveStretch> list_stretches(Store& store, std::string_view job_id,
                                         std::string_view name, const CurveExtent& extent,
                                         std::int64_t stretches_max, std::int64_t points_at_once) {
    std::vector<CurveStretch> stretches;
    std::int64_t number = -1;    // of stretches.back()
    std::int64_t after = extent.step_first - 1;
    std::int64_t points = extent.points > 0 ? points_at_once : 0;
    while (points == points_at_once) {
        points = 0;
        const Rows rows = read(store.pool(), queries::list_stretches,
                               {job_id, name, extent.step_first, extent.step_last, after,
                                points_at_once, stretches_max});
        for (const Row row : rows) {
            const CurveStretch next = read_stretch(name, row);
            if (row.integer("stretch") == number) {
                add_later(stretches.back(), next);
            } else {
                stretches.push_back(next);
            }
            number = row.integer("stretch");
            points += next.count;
            after = next.last.step;
        }
    }
    return stretches;
}

}    // namespace slipway::store
