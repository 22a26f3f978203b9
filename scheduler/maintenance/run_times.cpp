#include "scheduler/maintenance/run_times.h"

#include <algorithm>
#include <cmath>

namespace slipway {

namespace {

constexpr double longest_s = 365.0 * 86400;

RunEstimate seconds_of(double seconds, RunBasis basis) {
    const double whole = std::ceil(std::clamp(seconds, 1.0, longest_s));
    return {.lasts = std::chrono::seconds(std::int64_t(whole)), .basis = basis};
}

/// Each of project and cores that the row names is the job's.
bool is_about(const store::TypicalRun& run, const std::string& project, int cores) {
    return (!run.project || *run.project == project) && (!run.cores || *run.cores == cores);
}

int detail_of(const store::TypicalRun& run) {
    return (run.project ? 1 : 0) + (run.cores ? 1 : 0);
}

RunEstimate like_others(const store::TypicalRuns& typical, const std::string& project, int cores) {
    const store::TypicalRun* best = nullptr;
    for (const store::TypicalRun& run : typical.runs) {
        if (run.jobs < typical_jobs_min || !is_about(run, project, cores)) continue;
        if (best == nullptr || detail_of(run) > detail_of(*best)) best = &run;
    }
    if (best == nullptr) return {.lasts = default_run, .basis = RunBasis::assumed};
    return seconds_of(best->median_s, RunBasis::typical);
}

RunEstimate no_longer(RunEstimate estimate, std::optional<double> limit_s, RunBasis basis) {
    if (!limit_s || *limit_s >= double(estimate.lasts.count())) return estimate;
    return seconds_of(*limit_s, basis);
}

}    // namespace

RunEstimate estimate_run(const store::TypicalRuns& typical, const store::QueuedJob& job) {
    std::optional<double> limit_s;
    if (job.runs_at_most) limit_s = double(job.runs_at_most->count());
    const RunEstimate run = job.eta_s ? seconds_of(*job.eta_s, RunBasis::progress)
                                      : like_others(typical, job.project, job.cores);
    return no_longer(run, limit_s, RunBasis::limit);
}

RunEstimate estimate_rest(const store::TypicalRuns& typical, const store::RunningJobRow& job) {
    const double ran_s =
        std::max(0.0, std::chrono::duration<double>(typical.now - job.started_at).count());
    RunEstimate rest;
    if (job.eta_s) {
        rest = seconds_of(*job.eta_s, RunBasis::progress);
    } else {
        const RunEstimate whole = like_others(typical, job.project, job.cores);
        const double left_s = double(whole.lasts.count()) - ran_s;
        rest = seconds_of(left_s > 0 ? left_s : ran_s / 2, whole.basis);
    }
    std::optional<double> limit_s;
    if (job.runs_at_most) limit_s = double(job.runs_at_most->count()) - ran_s;
    rest = no_longer(rest, limit_s, RunBasis::limit);
    if (job.ending) rest = no_longer(rest, double(assumed_save.count()), rest.basis);
    return rest;
}

}    // namespace slipway
