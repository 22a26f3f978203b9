#pragma once

#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// Where jobs of a project have begun with a dataset: a hint for placement, of the leader's own
/// placements. It is in memory alone, since a new leader that knows nothing places as well, only
/// colder for a while. Not safe from several threads.
class WarmMemory {
public:
    static constexpr std::chrono::hours kept{24};    ///< as long as an agent keeps decoded copies
    static constexpr std::size_t places_max = 10'000;

    /// The job has begun there.
    void placed(const WaitingJob& job, const std::string& host, Instant now);
    /// Of the projects and datasets of these jobs.
    std::vector<WarmPlace> places_of(const std::vector<WaitingJob>& queue, Instant now) const;

private:
    void forget_oldest();

    std::map<std::tuple<std::string, std::string, std::string>, Instant>
        used_at_;    // by project, dataset and host
};

}    // namespace slipway
