#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// Why the scheduler decided so.
struct DecisionReason {
    std::string code{};
    std::string message{};
    std::string related_job{};    ///< that it waits for, gives way to, or goes before; may be empty
};

/// A decision on a job. `start` is written with its placement (Placement::why).
struct NewDecision {
    std::string job_id;
    std::string kind;    ///< wait or preempt
    DecisionReason reason;
};

struct Decision {
    std::int64_t id = 0;
    Instant at;
    std::string job_id;
    std::string project;
    std::string kind;    ///< start, wait or preempt
    DecisionReason reason;
    std::string host;    ///< of a start
    std::vector<int> cores;
};

/// All of them, of jobs that are there.
void record_decisions(Store& store, const std::vector<NewDecision>& decisions,
                      const LeaderTerm& term = {});

struct DecisionFilter {
    std::vector<std::string> projects{};    ///< empty: all
    std::string job_id{};                   ///< empty: all
};

/// The newest first.
Page<Decision> list_decisions(Store& store, const DecisionFilter& filter, const PageRequest& page);

/// Decisions older than `keep`, and those beyond the newest `rows_max`: at most pruned_at_once.
/// Returns how many.
std::int64_t prune_decisions(Store& store, std::chrono::milliseconds keep, std::int64_t rows_max,
                             const LeaderTerm& term = {});

}    // namespace slipway::store
