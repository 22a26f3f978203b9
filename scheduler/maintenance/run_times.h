#pragma once

#include "scheduler/placement/simulation.h"
#include "scheduler/store/queue.h"

namespace slipway {

/// So many jobs make a typical time.
inline constexpr std::int64_t typical_jobs_min = 3;

/// How long a waiting job will hold its cores: what was left by its own progress when it stopped;
/// else as long as jobs of its project with as many cores that succeeded lately (the median of at
/// least typical_jobs_min), else those of its project, else those of all, else default_run; but no
/// longer than its own limits. Pure.
RunEstimate estimate_run(const store::TypicalRuns& typical, const store::QueuedJob& job);

/// How long a running job will go on holding them: what is left by its own progress; else the rest
/// of what estimate_run says of one like it, and once it is past that, half as long again as it has
/// run. No longer than its limits, and when it is ending no longer than assumed_save. Pure.
RunEstimate estimate_rest(const store::TypicalRuns& typical, const store::RunningJobRow& job);

}    // namespace slipway
