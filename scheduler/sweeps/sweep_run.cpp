#include "scheduler/sweeps/sweep_run.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/documents.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/sweeps/plan.h"

namespace slipway::sweeps {

namespace {

using search::Action;
using search::TrialState;

constexpr int events_at_once = 5000;

bool has_ended(const search::Trial& trial) {
    return trial.state == TrialState::completed || trial.state == TrialState::stopped ||
           trial.state == TrialState::failed;
}

/// For the rule of `stall`: a trial has just ended.
void note_end(SweepRun& run) {
    const auto best = best_of(run);
    const std::optional<double> value = best ? std::optional(best->value) : std::nullopt;
    run.stalled = value == run.best_at_last_end ? run.stalled + 1 : 0;
    run.best_at_last_end = value;
}

void note_decisions(SweepRun& run, const std::vector<search::Decision>& decisions) {
    run.jobs.resize(run.search.trials().size());
    for (const search::Decision& decision : decisions) {
        if (decision.action == Action::wait || decision.action == Action::finish) {
            run.waits = true;
            run.is_over = decision.action == Action::finish;
            run.over_because = decision.reason;
        } else if (decision.trial >= 0) {
            run.jobs[std::size_t(decision.trial)].reason = decision.reason;
        }
    }
}

std::int64_t trial_of(const search::SearchEvent& event) {
    if (const auto* report = std::get_if<search::ReportEvent>(&event)) return report->trial;
    if (const auto* end = std::get_if<search::EndEvent>(&event)) return end->trial;
    if (const auto* retry = std::get_if<search::RetryEvent>(&event)) return retry->trial;
    return -1;
}

/// No worker holds a trial that is retried elsewhere. A trial that does not run has no lease.
void note_lease(SweepRun& run, const search::SearchEvent& event, std::int64_t trial) {
    if (!run.sweep.external || trial < 0) return;
    if (run.search.trials()[std::size_t(trial)].state != TrialState::running)
        run.leases.erase(trial);
    else if (std::holds_alternative<search::RetryEvent>(event))
        run.leases[trial] = {.is_free = true};
}

std::vector<search::Decision> apply(SweepRun& run, const search::SearchEvent& event,
                                    const std::string& detail) {
    const std::int64_t trial = trial_of(event);
    const auto ended_before = [&] {
        return trial >= 0 && has_ended(run.search.trials()[std::size_t(trial)]);
    };
    const bool was_ended = ended_before();
    run.waits = false;
    run.is_over = false;
    std::vector<search::Decision> decisions = run.search.on(event);
    note_decisions(run, decisions);
    if (!detail.empty() && trial >= 0) run.jobs[std::size_t(trial)].reason = detail;
    note_lease(run, event, trial);
    if (!was_ended && ended_before()) note_end(run);
    return decisions;
}

std::vector<search::KnownResult> known_results(const Json& stored) {
    std::vector<search::KnownResult> known;
    for (const Json& one : stored) {
        search::KnownResult result{.point = {}, .value = one.at("value").get<double>()};
        if (one.contains("reached")) result.reached = one.at("reached").get<std::int64_t>();
        for (const auto& [path, value] : one.at("point").items())
            result.point[path] = value;
        known.push_back(std::move(result));
    }
    return known;
}

Json fold_values_of(const search::Trial& trial) {
    Json values = Json::array();
    for (const double value : trial.fold_values) {
        if (!std::isfinite(value)) break;    // it is the last one
        values.push_back(value);
    }
    return values;
}

/// The reasons as they were given: a search that reads its log does not find all of them again.
void note_reasons(SweepRun& run, const store::JsonText& decisions) {
    for (const Json& decision : store::stored_json(decisions)) {
        const std::int64_t trial = decision.value("trial", std::int64_t{-1});
        if (trial >= 0) run.jobs[std::size_t(trial)].reason = decision.value("reason", "");
    }
}

/// The lines after `seq`. The reasons of trials are those of the lines, or stay to be read.
void replay_log(store::Store& store, SweepRun& run, std::int64_t seq, bool with_reasons,
                const KeepGoing& may_go_on) {
    for (;;) {
        const auto page = store::list_sweep_events(store, run.sweep.id, seq, events_at_once);
        for (const store::SweepEvent& line : page.events) {
            seq = line.seq;
            if (seq % 64 == 0) may_go_on();
            const Json json = store::stored_json(line.event);
            const auto event = decode_event(json);
            if (const auto* lease = std::get_if<LeaseEvent>(&event))
                take_lease(run, *lease, line.at);
            const auto* of_search = std::get_if<search::SearchEvent>(&event);
            if (of_search == nullptr) continue;
            const std::string detail = json.value("detail", "");
            apply(run, *of_search, detail);
            if (const std::int64_t trial = trial_of(*of_search); trial >= 0)
                note_report(run.leases, trial, line.at);
            if (with_reasons && detail.empty()) note_reasons(run, line.decisions);
        }
        if (!page.more) break;
    }
    // The sweep was read first: what has been added to the log since is for the next reading.
    run.sweep.seq = seq;
}

}    // namespace

void take(SweepRun& run, StepLog& log, const search::SearchEvent& event, std::string detail) {
    LoggedEvent logged{
        .event = event, .decisions = apply(run, event, detail), .detail = std::move(detail)};
    if (std::holds_alternative<search::AskEvent>(event))
        logged.event = search::AskEvent{.unit = run.search.unit_for_log(logged.decisions.back())};
    if (const std::int64_t trial = trial_of(event); trial >= 0) log.changed[trial] = true;
    for (const search::Decision& decision : logged.decisions)
        if (decision.trial >= 0) log.changed[decision.trial] = true;
    log.events.push_back(std::move(logged));
}

SweepRun load_run(store::Store& store, store::Sweep sweep, const KeepGoing& may_go_on) {
    Decoded<SweepSpec> spec = decode_sweep(store::stored_json(sweep.spec));
    if (!spec.ok())
        throw Error{ErrorCode::data_loss,
                    "the stored sweep is of another version: " + joined_messages(spec.problems)};
    // max_trials of the spec is where the sweep began; the log says how it was extended.
    SweepFolds folds = decode_folds(sweep.folds);
    search::Search search = make_search(
        spec.value, spec.value.limits.max_trials.value_or(sweep.max_trials),
        known_results(store::stored_json(store::find_known_results(store, sweep.id))), folds.sizes);
    SweepRun run{.sweep = std::move(sweep),
                 .spec = std::move(spec.value),
                 .search = std::move(search),
                 .folds = std::move(folds)};
    replay_log(store, run, 0, false, may_go_on);
    for (const store::SweepTrial& trial : store::all_sweep_trials(store, run.sweep.id)) {
        if (std::size_t(trial.number) >= run.jobs.size()) continue;
        TrialJobs& jobs = run.jobs[std::size_t(trial.number)];
        jobs.job_id = trial.job_id;
        jobs.open = trial.job_open;
        jobs.jobs = trial.jobs;
        jobs.reason = trial.reason;
    }
    return run;
}

void catch_up(store::Store& store, SweepRun& run, store::Sweep sweep) {
    const std::int64_t seq = run.sweep.seq;
    run.sweep = std::move(sweep);
    if (run.sweep.seq > seq) return replay_log(store, run, seq, true, keep_going);
    run.sweep.seq = seq;
}

store::SweepTrial trial_row(const SweepRun& run, std::int64_t number) {
    const search::Trial& trial = run.search.trials()[std::size_t(number)];
    const TrialJobs& jobs = run.jobs[std::size_t(number)];
    Json point = Json::object();
    for (const auto& [path, value] : trial.point)
        point[path] = value;
    Json lineage = Json::array();
    for (const search::LineageStep& step : trial.lineage)
        lineage.push_back(
            {{"time", step.time}, {"source", step.source}, {"source_time", step.source_time}});
    store::SweepTrial row{.number = int(number),
                          .state = std::string(to_string(trial.state)),
                          .point = point.dump(),
                          .until = trial.until,
                          .reports = int(trial.reports.size()),
                          .lineage = lineage.dump(),
                          .fold_values = fold_values_of(trial).dump(),
                          .job_id = jobs.job_id,
                          .job_open = jobs.open,
                          .jobs = jobs.jobs,
                          .reason = jobs.reason};
    if (trial.reports.empty()) return row;
    row.last_time = trial.reports.back().time;
    if (std::isfinite(trial.reports.back().value)) row.last_value = trial.reports.back().value;
    // The mean of some folds is not to be listed among those of all.
    const auto& folds = run.search.plan().folds;
    if (folds && trial.reports.size() < folds->sizes.size()) return row;
    const auto& judged = search::judged_report(trial, run.search.plan().selection);
    if (std::isfinite(judged.value)) {
        row.value = judged.value;
        row.value_time = judged.time;
    }
    return row;
}

store::TrialCounts count_trials(const SweepRun& run) {
    store::TrialCounts counts;
    for (const search::Trial& trial : run.search.trials()) {
        ++counts.trials;
        switch (trial.state) {
            case TrialState::running:
                ++counts.running;
                break;
            case TrialState::paused:
                ++counts.paused;
                break;
            case TrialState::completed:
                ++counts.completed;
                break;
            case TrialState::stopped:
                ++counts.stopped;
                break;
            case TrialState::failed:
                ++counts.failed;
                break;
        }
    }
    return counts;
}

std::optional<store::BestTrial> best_of(const SweepRun& run) {
    const auto best = run.search.best_trial();
    if (!best) return std::nullopt;
    const auto& trial = run.search.trials()[std::size_t(*best)];
    return store::BestTrial{
        .trial = int(*best),
        .value = search::judged_report(trial, run.search.plan().selection).value};
}

store::SweepStep step_of(const SweepRun& run, const StepLog& log) {
    store::SweepStep step{.sweep_id = run.sweep.id, .version = run.sweep.version};
    for (const LoggedEvent& logged : log.events)
        step.events.push_back({.event = encode(logged).dump(),
                               .decisions = encode_decisions(logged.decisions).dump()});
    for (const auto& [number, is_changed] : log.changed)
        step.trials.push_back(trial_row(run, number));
    step.counts = count_trials(run);
    step.best = best_of(run);
    return step;
}

}    // namespace slipway::sweeps
