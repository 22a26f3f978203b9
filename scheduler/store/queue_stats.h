#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// The queued jobs of one project and class.
struct QueueTotal {
    std::string project;
    std::string queue_class;
    std::int64_t jobs = 0;
    std::int64_t start_after = 0;            ///< of them: held by a time
    std::int64_t waiting_for_dataset = 0;    ///< of them: held by their dataset alone
    std::optional<Instant> oldest_ready_at;

    std::int64_t ready() const { return jobs - start_after - waiting_for_dataset; }
};

/// What happened in the last `window`.
struct QueueRate {
    std::chrono::seconds window{0};
    std::int64_t submitted = 0;
    std::int64_t started = 0;    ///< attempts
    std::int64_t ended = 0;      ///< jobs in a final state
    /// From submission to the first start, of jobs that started for the first time.
    std::optional<double> wait_mean_s;
    std::optional<double> wait_max_s;
};

struct QueueStats {
    std::vector<QueueTotal> totals;    ///< by project, then the most urgent class first
    std::vector<QueueRate> rates;      ///< of 1, 5 and 15 minutes
    Instant now;                       ///< the database's
};

/// Sums of changes (job_count): the cost does not depend on how many jobs wait. `projects`
/// empty: of all. Rates are exact to 10 seconds.
QueueStats read_queue_stats(Store& store, const std::vector<std::string>& projects = {});

}    // namespace slipway::store
