#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// What ended jobs leave. Each kind is kept for some days after a job's end, or for ever.
enum class RetainedKind {
    events,         ///< but the states, the end, log lines and warnings
    logs,           ///< log lines and warnings
    metrics,        ///< points; the last, lowest and highest value stay
    checkpoints,    ///< but the newest, the best, those pinned or in use
    jobs            ///< everything; a job with a checkpoint that is pinned or in use stays
};
inline constexpr std::size_t retained_kinds = 5;

std::string_view to_string(RetainedKind kind);

/// Days by kind; none: for ever.
struct RetentionPolicy {
    std::optional<int> days[retained_kinds] = {};

    std::optional<int>& of(RetainedKind kind) { return days[std::size_t(kind)]; }
    const std::optional<int>& of(RetainedKind kind) const { return days[std::size_t(kind)]; }
};

struct RetentionBatch {
    std::int64_t removed = 0;    ///< rows, or jobs
    bool more = false;           ///< there may be more
};

/// Removes a batch of what jobs that ended more than `days` ago have left of a kind, the oldest
/// first. What is gone of a job is said in Job::pruned.
/// errors  throws LeaderReplaced
RetentionBatch apply_retention(Store& store, RetainedKind kind, int days,
                               const LeaderTerm& term = {});

/// What a policy would remove now; counted up to retention_counted_max jobs.
struct RetentionDue {
    std::int64_t jobs = 0;
    std::int64_t checkpoints = 0;
    std::int64_t checkpoint_bytes = 0;
};
inline constexpr int retention_counted_max = 10'000;

RetentionDue preview_retention(Store& store, RetainedKind kind, int days);

}    // namespace slipway::store
