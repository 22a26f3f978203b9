#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scheduler/store/queue.h"

// What the routes know of simulations of the queue, which the scheduler makes.
namespace slipway {

/// When and where a queued job is expected to start.
struct StartEstimate {
    Instant at{};
    std::string host = {};
    std::vector<int> cores = {};
    /// The least certain of what it was computed from: known, progress, typical, limit, assumed.
    std::string from = {};
};

/// What if.
struct QueueChange {
    std::optional<store::QueuedJob> new_job = {};    ///< submitted now
    std::string job_id = {};                         ///< of the queue; or empty
    std::optional<int> class_rank = {};              ///< of that job
    int more_hosts = 0;
    int cores_per_host = 8;
    std::string pool = {};    ///< of these hosts
};

struct StartChange {
    std::string job_id;
    std::string project;
    std::optional<Instant> before;    ///< none: later than was simulated
    std::optional<Instant> after;
};

struct SimulatedQueue {
    Instant now{};
    std::optional<StartEstimate> without = {};    ///< of the job that is asked about
    std::optional<StartEstimate> with = {};
    std::string wait_code = {};    ///< empty: it would start at once
    std::string wait_message = {};
    std::string blocking_job = {};
    std::vector<StartChange> later = {};    ///< the most changed first
    std::vector<StartChange> sooner = {};
    std::size_t jobs = 0;
    bool complete = false;
    Instant until{};
};

}    // namespace slipway
