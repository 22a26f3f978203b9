#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/maintenance/forecast.h"
#include "scheduler/placement/placement.h"

namespace slipway {

/// A change to the service as it is.
struct WhatIf {
    std::optional<store::QueuedJob> new_job = {};    ///< submitted now; its id is made up
    std::string job_id = {};                         ///< of the queue; or empty
    std::optional<int> class_rank = {};              ///< of that job
    int more_hosts = 0;
    int cores_per_host = 8;
    std::string pool = {};    ///< of these hosts
};

/// What it does to a job of the queue.
struct ChangedStart {
    std::string job_id;
    std::string project;
    std::optional<Instant> before;    ///< none: not within the bounds
    std::optional<Instant> after;
};

struct WhatIfAnswer {
    Instant now{};
    std::optional<SimulatedStart> without = {};    ///< of the job that is asked about
    std::optional<SimulatedStart> with = {};
    /// Why the job would wait at first; none: it would start at once.
    std::optional<WaitReason> waits = {};
    /// Other jobs that would start a second or more later, or sooner: the most changed first.
    std::vector<ChangedStart> later = {};
    std::vector<ChangedStart> sooner = {};
    std::size_t jobs = 0;    ///< of the queue, that were simulated
    bool complete = false;
    Instant until{};
};

/// The queue with and without the change. Two simulations, each within the bounds of a forecast.
/// errors  throws unavailable; not_found when `job_id` is not queued
WhatIfAnswer what_if(store::Store& store, const Clock& clock, const WhatIf& change,
                     std::chrono::milliseconds host_silence_max);

}    // namespace slipway
