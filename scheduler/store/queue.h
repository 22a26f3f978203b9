#pragma once

#include "scheduler/store/jobs.h"

namespace slipway::store {

/// A waiting job, as the scheduler sees it.
struct QueuedJob {
    std::string job_id;
    std::string project;
    std::string queue_class;
    int class_rank = 2;    ///< 0 urgent, 1 high, 2 normal, 3 low, 4 idle
    Instant age_key;       ///< when it was submitted: a job that comes back keeps its place
    int cores = 1;
    std::optional<int> core_id;
    std::optional<Instant> not_before;    ///< start_after, or back-off after a lost attempt
    bool due = true;                      ///< not_before has passed (database time)
    std::optional<Instant> valid_until;
    std::string dataset_id;
    std::string dataset_state;    ///< "ready", "checking", "failed", or empty when it is gone
};

/// The head of the queue: class, then age, then id. Takes no lock: commit_placements decides races.
std::vector<QueuedJob> list_queue(Store& store, int limit = 1000);

/// Cores for one job, decided by placement.
struct Placement {
    std::string job_id{};
    std::string host{};
    std::vector<int> cores{};    ///< 1 to 8, each once
    std::string token{};         ///< random_hex(16), the new attempt's fence
    std::chrono::milliseconds lease{10000};
};

struct PlacementOutcome {
    std::string job_id;
    /// The new attempt's number; nothing when the race was lost (the job is gone from the queue, a
    /// core was taken or drained, the host is unknown): then nothing of this placement is stored.
    std::optional<int> attempt;
};

/// Commits attempts, leases and the state `starting`: each placement wholly or not at all, all in
/// one transaction when none collides. Rows locked by another scheduler are skipped, never waited
/// for. Two leases of one core cannot be committed, whoever asks.
std::vector<PlacementOutcome> commit_placements(Store& store,
                                                const std::vector<Placement>& placements);

struct QueuePosition {
    int position = 1;    ///< 1 = next
    int cores_ahead = 0;
};

/// Where a queued job stands; nothing when it is not queued.
std::optional<QueuePosition> find_queue_position(Store& store, std::string_view job_id);

struct QueueClassStats {
    std::string queue_class;
    std::int64_t jobs = 0;
    std::int64_t cores = 0;
    std::optional<Instant> oldest;
};

/// One row per class that has waiting jobs, most urgent first.
std::vector<QueueClassStats> queue_stats(Store& store);

}    // namespace slipway::store
