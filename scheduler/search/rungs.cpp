#include "scheduler/search/rungs.h"

#include <algorithm>
#include <tuple>

namespace slipway::search {

std::vector<std::int64_t> rung_times(std::int64_t min_time, std::int64_t max_time,
                                     std::int64_t reduction_factor) {
    std::vector<std::int64_t> times;
    for (std::int64_t time = min_time; time < max_time; time *= reduction_factor)
        times.push_back(time);
    times.push_back(max_time);
    return times;
}

std::int64_t Rung::add(const RungEntry& entry) {
    const auto place =
        std::ranges::lower_bound(entries_, entry, [](const RungEntry& a, const RungEntry& b) {
            return std::tie(a.loss, a.trial) < std::tie(b.loss, b.trial);
        });
    // The rank before the insertion, which may move everything.
    const std::int64_t rank = place - entries_.begin() + 1;
    entries_.insert(place, entry);
    return rank;
}

}    // namespace slipway::search
