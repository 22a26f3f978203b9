#pragma once

#include <cstdint>
#include <vector>

namespace slipway::search {

/// Times at which trials are compared: min_time, times reduction_factor again and again, and
/// max_time at last. 1, 3, 9, 27 for min_time 1, max_time 27, reduction_factor 3.
std::vector<std::int64_t> rung_times(std::int64_t min_time, std::int64_t max_time,
                                     std::int64_t reduction_factor);

/// One trial's result at a rung.
struct RungEntry {
    std::int64_t trial = 0;
    double loss = 0;
    double value = 0;
};

/// The results at a rung, best first; equal losses by trial number.
class Rung {
public:
    /// The rank of the new entry, 1 for the best.
    std::int64_t add(const RungEntry& entry);

    const std::vector<RungEntry>& entries() const { return entries_; }
    std::int64_t size() const { return std::int64_t(entries_.size()); }

private:
    std::vector<RungEntry> entries_;
};

}    // namespace slipway::search
