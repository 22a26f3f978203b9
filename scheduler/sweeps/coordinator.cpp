// One step of a sweep: from what is seen of its jobs to what is to be done. Everything that is
// decided here follows from the log and the observation, so a step that was lost with its process
// is taken again in the same way.
//
// The order within a step is fixed: trials by number, and of a trial its values before its end.
// A value at the time where a trial's job ends is held back until the job has ended: what it leads
// to (a promotion, a copy of the weights) needs the checkpoint. The search is asked only when
// something has happened since it last said to wait, so that the log does not depend on how often
// a process looks.

#include "scheduler/sweeps/coordinator.h"
#include "api/base/plural.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace slipway::sweeps {

namespace {

using search::Action;
using search::Trial;
using search::TrialState;

/// Of one step, so that a transaction stays small.
constexpr int asks_at_once = 100;
// Likewise (search::Search::effort): about 50 ms. All sweeps of a database have one thread.
constexpr std::int64_t effort_of_step = 20'000'000;
constexpr const char* slow_code = "slow_search";
constexpr std::int64_t failures_without_result_max = 10;

bool is_running(const SweepRun& run, std::int64_t number) {
    return run.search.trials()[std::size_t(number)].state == TrialState::running;
}

std::int64_t open_count(const SweepRun& run) {
    return std::ranges::count_if(run.jobs, [](const TrialJobs& jobs) { return jobs.open; });
}

/// Trials that the search has ended while their jobs go on.
void end_stopped(SweepRun& run, CoordinatorStep& step, std::int64_t number) {
    TrialJobs& jobs = run.jobs[std::size_t(number)];
    const Trial& trial = run.search.trials()[std::size_t(number)];
    if (!jobs.open || jobs.is_asked_to_end || trial.state != TrialState::stopped) return;
    jobs.is_asked_to_end = true;
    step.ends[number] = {.code = "stopped_by_sweep", .message = jobs.reason};
}

void take_values(SweepRun& run, CoordinatorStep& step, const ObservedJob& job, bool has_ended) {
    for (const Measured& one : job.values) {
        const Trial& trial = run.search.trials()[std::size_t(job.trial)];
        if (trial.state != TrialState::running) return;
        if (!trial.reports.empty() && one.time <= trial.reports.back().time) continue;
        if (trial.until > 0 && one.time >= trial.until && !has_ended) return;
        take(run, step.log,
             search::ReportEvent{.trial = job.trial, .time = one.time, .value = one.value});
    }
}

std::string why_failed(const ObservedJob& job) {
    if (!job.state) return "its job was deleted";
    const std::string word(to_string(*job.state));
    if (!job.reason) return fmt::format("its job is {}", word);
    return fmt::format("its job is {}: {}: {}", word, job.reason->code, job.reason->message);
}

/// The job of a fold has succeeded: the trial goes on with the next one, unless nothing was
/// measured.
void take_fold_end(SweepRun& run, CoordinatorStep& step, std::int64_t trial, bool has_value) {
    if (has_value) return;
    take(run, step.log, search::EndEvent{.trial = trial, .failed = true},
         fmt::format("the job of a fold has no value of {}", measured_metric(run.spec)));
}

void take_end(SweepRun& run, CoordinatorStep& step, const ObservedJob& job, bool has_value) {
    TrialJobs& jobs = run.jobs[std::size_t(job.trial)];
    jobs.open = false;
    jobs.is_asked_to_end = false;
    step.log.changed[job.trial] = true;
    // What is paused at a rung or has been decided about already has come to its end as planned.
    if (!is_running(run, job.trial)) return;
    const bool failed = job.state != JobState::succeeded;
    if (run.spec.cross_validation && !failed) return take_fold_end(run, step, job.trial, has_value);
    take(run, step.log, search::EndEvent{.trial = job.trial, .failed = failed},
         failed ? why_failed(job) : std::string());
}

void take_job(SweepRun& run, CoordinatorStep& step, const ObservedJob& job) {
    if (std::size_t(job.trial) >= run.jobs.size() || !run.jobs[std::size_t(job.trial)].open) return;
    const bool has_ended = !job.state || is_final(*job.state);
    const auto& reports = run.search.trials()[std::size_t(job.trial)].reports;
    const std::size_t before = reports.size();
    take_values(run, step, job, has_ended);
    if (has_ended) take_end(run, step, job, reports.size() > before);
}

bool has_result(const SweepRun& run) {
    return run.search.best_trial().has_value();
}

// ---- limits ---------------------------------------------------------------

/// A limit that has been reached; empty: none.
using ReachedLimit = std::string;

ReachedLimit target_reached(const SweepRun& run, const Observation&) {
    const auto& target = run.spec.limits.target;
    const auto best = best_of(run);
    if (!target || !best) return {};
    const bool is_min = run.spec.objective.mode == MetricMode::min;
    if (is_min ? best->value > *target : best->value < *target) return {};
    return fmt::format("trial {} has reached the target {:.6g}: {} is {:.6g}", best->trial, *target,
                       run.spec.objective.metric, best->value);
}

ReachedLimit stalled(const SweepRun& run, const Observation&) {
    const auto& limit = run.spec.limits.stall;
    if (!limit || run.stalled < *limit) return {};
    return fmt::format("{} in a row ended without a new best value (limits.stall)",
                       counted(run.stalled, "trial"));
}

ReachedLimit too_many_failures(const SweepRun& run, const Observation&) {
    const std::int64_t failed = count_trials(run).failed;
    const auto& limit = run.spec.limits.max_failures;
    if (limit && failed >= *limit)
        return fmt::format("{} failed (limits.max_failures)", counted(failed, "trial"));
    if (limit || has_result(run) || failed < failures_without_result_max) return {};
    const auto last =
        std::find_if(run.search.trials().rbegin(), run.search.trials().rend(),
                     [](const Trial& trial) { return trial.state == TrialState::failed; });
    return fmt::format("{} failed and none has a finite value of {}; the last one: {}",
                       counted(failed, "trial"), run.spec.objective.metric,
                       run.jobs[std::size_t(last->number)].reason);
}

ReachedLimit core_seconds_used(const SweepRun& run, const Observation& seen) {
    const auto& limit = run.spec.limits.max_core_s;
    if (!limit || seen.core_s < *limit) return {};
    return fmt::format("the trials have used {:.0f} core-seconds (limits.max_core_s {:.0f})",
                       seen.core_s, *limit);
}

ReachedLimit time_passed(const SweepRun& run, const Observation& seen) {
    const auto& limit = run.spec.limits.max_wall_s;
    if (!limit || seen.age_s < *limit) return {};
    return fmt::format("{:.0f} seconds have passed since the sweep was created (limits.max_wall_s)",
                       seen.age_s);
}

ReachedLimit owner_lost(const SweepRun& run, const Observation& seen) {
    if (!seen.owner_is_lost) return {};
    return fmt::format(
        "the token {} that created the sweep has ended, or its member may no longer "
        "submit jobs to project {}",
        run.sweep.created_by, run.sweep.project);
}

struct LimitRow {
    const char* code;
    ReachedLimit (*reached)(const SweepRun&, const Observation&);
};

constexpr std::array<LimitRow, 6> limit_rows{{{"target", target_reached},
                                              {"too_many_failures", too_many_failures},
                                              {"stall", stalled},
                                              {"max_core_s", core_seconds_used},
                                              {"max_wall_s", time_passed},
                                              {"owner_lost", owner_lost}}};

void end_all(SweepRun& run, CoordinatorStep& step, const store::Reason& reason) {
    for (std::size_t number = 0; number < run.jobs.size(); ++number) {
        TrialJobs& jobs = run.jobs[number];
        if (!jobs.open || jobs.is_asked_to_end) continue;
        jobs.is_asked_to_end = true;
        step.ends[std::int64_t(number)] = reason;
    }
}

void enter(SweepRun& run, CoordinatorStep& step, SweepState state,
           const std::optional<store::Reason>& reason) {
    run.sweep.state = state;
    run.sweep.reason = reason;
    step.state = state;
    step.reason = reason;
}

void check_limits(SweepRun& run, CoordinatorStep& step, const Observation& seen) {
    const auto limit = limit_reached(run, seen);
    if (!limit) return;
    step.log.events.push_back({.event = *limit});
    enter(run, step, SweepState::stopping, store::Reason{limit->code, limit->message});
}

// ---- ends -----------------------------------------------------------------

/// Where a sweep ends that is stopping for this reason.
SweepState end_state(const store::Reason& reason) {
    if (reason.code == "too_many_failures" || reason.code == "owner_lost")
        return SweepState::failed;
    return reason.code == "stopped" ? SweepState::stopped : SweepState::finished;
}

void finish_stopping(SweepRun& run, CoordinatorStep& step) {
    const store::Reason reason =
        run.sweep.reason.value_or(store::Reason{"stopped", "the sweep was stopped"});
    end_all(run, step, {.code = "stopped_by_sweep", .message = reason.message});
    if (open_count(run) == 0) enter(run, step, end_state(reason), reason);
}

void finish_over(SweepRun& run, CoordinatorStep& step) {
    const auto counts = count_trials(run);
    if (has_result(run))
        return enter(run, step, SweepState::finished,
                     store::Reason{"search_over", run.over_because});
    const std::string message = fmt::format(
        "none of {} has a finite value of {}: failed {}, stopped {}",
        counted(counts.trials, "trial"), run.spec.objective.metric, counts.failed, counts.stopped);
    enter(run, step, SweepState::failed, store::Reason{"no_result", message});
}

// ---- starts ---------------------------------------------------------------

/// Where a trial that trains on begins: where it has got to, or with the weights that pbt gave it.
std::optional<TrainedTo> begins_from(const Trial& trial, const TrialJobs& jobs) {
    if (jobs.jobs == 0 || trial.reports.empty()) return std::nullopt;
    const std::int64_t reached = trial.reports.back().time;
    if (!trial.lineage.empty() && trial.lineage.back().time == reached)
        return TrainedTo{trial.lineage.back().source, trial.lineage.back().source_time};
    return TrainedTo{trial.number, reached};
}

void want_job(SweepRun& run, CoordinatorStep& step, std::int64_t number, bool is_retry) {
    const Trial& trial = run.search.trials()[std::size_t(number)];
    TrialJobs& jobs = run.jobs[std::size_t(number)];
    WantedJob wanted{.trial = number, .until = trial.until, .is_retry = is_retry};
    if (run.spec.cross_validation) {
        wanted.fold = std::int64_t(trial.fold_values.size());
    } else if (!is_retry) {
        wanted.from = begins_from(trial, jobs);
    }
    step.jobs.push_back(wanted);
    step.log.changed[number] = true;
    jobs.open = true;
    ++jobs.jobs;
}

/// Trials that run and have no job: those that are tried again, or have another fold to train.
void start_again(SweepRun& run, CoordinatorStep& step, std::int64_t& open) {
    for (const Trial& trial : run.search.trials()) {
        if (open >= run.sweep.max_concurrent) return;
        if (trial.state != TrialState::running || run.jobs[std::size_t(trial.number)].open)
            continue;
        want_job(run, step, trial.number, true);
        ++open;
    }
}

/// Why a sweep that runs starts fewer trials than it may.
void tell_slowness(SweepRun& run, CoordinatorStep& step) {
    const bool is_told = run.sweep.reason && run.sweep.reason->code == slow_code;
    if (step.has_used_its_slice && !run.sweep.reason) {
        enter(run, step, SweepState::running,
              store::Reason{slow_code,
                            "choosing points takes long (constraints that most points violate, "
                            "many parameters or many results), so other sweeps go first"});
    } else if (is_told && !step.has_used_its_slice && !step.log.events.empty()) {
        enter(run, step, SweepState::running, std::nullopt);
    }
}

void ask(SweepRun& run, CoordinatorStep& step) {
    std::int64_t open = open_count(run);
    start_again(run, step, open);
    const std::int64_t effort_before = run.search.effort();
    for (int asked = 0; asked < asks_at_once; ++asked) {
        if (run.waits || open >= run.sweep.max_concurrent) break;
        step.has_used_its_slice = run.search.effort() - effort_before >= effort_of_step;
        if (step.has_used_its_slice) break;
        take(run, step.log, search::AskEvent{});
        for (const search::Decision& decision : step.log.events.back().decisions) {
            if (decision.action != Action::start && decision.action != Action::resume) continue;
            want_job(run, step, decision.trial, false);
            ++open;
        }
    }
    tell_slowness(run, step);
    if (run.is_over && open == 0) finish_over(run, step);
}

}    // namespace

CoordinatorStep advance(SweepRun& run, const Observation& seen) {
    CoordinatorStep step;
    for (const ObservedJob& job : seen.jobs)
        take_job(run, step, job);
    if (run.sweep.state == SweepState::running) check_limits(run, step, seen);
    if (run.sweep.state == SweepState::stopping) {
        finish_stopping(run, step);
    } else if (run.sweep.state == SweepState::running) {
        ask(run, step);
    }
    for (std::size_t number = 0; number < run.jobs.size(); ++number)
        end_stopped(run, step, std::int64_t(number));
    return step;
}

std::optional<LimitEvent> limit_reached(const SweepRun& run, const Observation& seen) {
    for (const LimitRow& row : limit_rows) {
        ReachedLimit message = row.reached(run, seen);
        if (!message.empty()) return LimitEvent{row.code, std::move(message)};
    }
    return std::nullopt;
}

void settle_external(SweepRun& run, CoordinatorStep& step, double age_s) {
    if (run.sweep.state != SweepState::running) return;
    check_limits(run, step, {.age_s = age_s});
    if (run.sweep.state == SweepState::stopping) {
        const store::Reason reason = *run.sweep.reason;
        enter(run, step, end_state(reason), reason);
    } else if (run.is_over) {
        finish_over(run, step);
    }
}

void fail_trial(SweepRun& run, CoordinatorStep& step, std::int64_t trial, const std::string& why) {
    TrialJobs& jobs = run.jobs[std::size_t(trial)];
    jobs.open = false;
    --jobs.jobs;
    std::erase_if(step.jobs, [&](const WantedJob& wanted) { return wanted.trial == trial; });
    take(run, step.log, search::EndEvent{.trial = trial, .failed = true},
         "its job cannot be made: " + why);
}

std::string key_of(std::int64_t trial, std::int64_t until) {
    return until == 0 ? std::to_string(trial) : fmt::format("{}@{}", trial, until);
}

std::string key_of_fold(std::int64_t trial, std::int64_t fold) {
    return fmt::format("{}-fold-{}", trial, fold);
}

}    // namespace slipway::sweeps
