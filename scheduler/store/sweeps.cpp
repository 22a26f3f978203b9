#include "scheduler/store/sweeps.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "api/base/plural.h"
#include "scheduler/store/job_rows.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

std::optional<BestTrial> best_of(const Row& row) {
    const auto trial = row.maybe_small("best_trial");
    if (!trial) return std::nullopt;
    return BestTrial{.trial = *trial, .value = row.number("best_value")};
}

SweepState sweep_state_of(const Row& row) {
    const auto state = parse_word<SweepState>(row.text("state"));
    check(state.has_value(), "the database's states of a sweep are those of api/spec/sweep_state");
    return *state;
}

Sweep read_sweep(const Row& row) {
    return {.id = row.text("id"),
            .name = row.text("name"),
            .project = row.text("project"),
            .labels = labels_from_json(row.text("labels")),
            .state = sweep_state_of(row),
            .reason = reason_of(row),
            .spec = row.text("spec"),
            .max_trials = row.small("max_trials"),
            .max_concurrent = row.small("max_concurrent"),
            .external = row.flag("external"),
            .split_id = row.text("split_id"),
            .folds = row.text("folds"),
            .seq = row.integer("seq"),
            .counts = {.trials = row.small("trials"),
                       .running = row.small("running"),
                       .paused = row.small("paused"),
                       .completed = row.small("completed"),
                       .stopped = row.small("stopped"),
                       .failed = row.small("failed")},
            .best = best_of(row),
            .version = row.integer("version"),
            .created_by = row.text("created_by"),
            .created_at = row.time("created_at"),
            .finished_at = row.maybe_time("finished_at")};
}

SweepTrial read_trial(const Row& row) {
    return {.number = row.small("number"),
            .state = row.text("state"),
            .point = row.text("point"),
            .until = row.integer("train_until"),
            .reports = row.small("reports"),
            .last_time = row.maybe_integer("last_time"),
            .last_value = row.maybe_number("last_value"),
            .value = row.maybe_number("value"),
            .value_time = row.maybe_integer("value_time"),
            .lineage = row.text("lineage"),
            .fold_values = row.text("fold_values"),
            .job_id = row.text("job_id"),
            .job_open = row.flag("job_open"),
            .jobs = row.small("jobs"),
            .reason = row.text("reason"),
            .started_at = row.time("started_at"),
            .ended_at = row.maybe_time("ended_at")};
}

template <class T>
Json json_or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json trial_json(const SweepTrial& trial) {
    return {{"number", trial.number},
            {"state", trial.state},
            {"point", Json::parse(trial.point)},
            {"train_until", trial.until},
            {"reports", trial.reports},
            {"last_time", json_or_null(trial.last_time)},
            {"last_value", json_or_null(trial.last_value)},
            {"value", json_or_null(trial.value)},
            {"value_time", json_or_null(trial.value_time)},
            {"lineage", Json::parse(trial.lineage)},
            {"job_id", trial.job_id.empty() ? Json(nullptr) : Json(trial.job_id)},
            {"job_open", trial.job_open},
            {"jobs", trial.jobs},
            {"fold_values", Json::parse(trial.fold_values)},
            {"reason", trial.reason.empty() ? Json(nullptr) : Json(trial.reason)}};
}

/// Of a failed trial with its job.
std::string failure_code(const Row& row) {
    if (row.is_null("job_id")) return "not_made";
    if (row.is_null("state")) return "job_deleted";
    const JobState state = read_state(row);
    if (state == JobState::succeeded) return "no_result";
    const auto reason = reason_of(row);
    return reason ? reason->code : std::string(to_string(state));
}

std::vector<std::string> state_words(const std::vector<SweepState>& states) {
    std::vector<std::string> words;
    for (const SweepState state : states)
        words.emplace_back(to_string(state));
    return words;
}

Statement change_statement(const SweepStep& step, std::int64_t seq) {
    const auto count = [&](int TrialCounts::*member) {
        return step.counts ? Param((*step.counts).*member) : Param(std::nullopt);
    };
    return {&queries::change_sweep,
            {step.sweep_id, seq, step.state ? Param(to_string(*step.state)) : Param(std::nullopt),
             reason_code(step.reason), reason_message(step.reason), count(&TrialCounts::trials),
             count(&TrialCounts::running), count(&TrialCounts::paused),
             count(&TrialCounts::completed), count(&TrialCounts::stopped),
             count(&TrialCounts::failed), step.best ? Param(step.best->trial) : Param(std::nullopt),
             step.best ? Param(step.best->value) : Param(std::nullopt), step.max_trials,
             step.max_concurrent, step.name,
             step.labels ? Param(labels_to_json(*step.labels)) : Param(std::nullopt),
             step.folds.empty() ? Param(std::nullopt) : Param(step.folds)}};
}

/// The line of the log that says a change of state.
SweepEvent state_line(const SweepStep& step, const std::string& from) {
    Json reason = nullptr;
    if (step.reason)
        reason = {{"code", step.reason->code},
                  {"message", repaired_text(step.reason->message, 4000)}};
    return {.event = Json{{"type", "state"},
                          {"state", to_string(*step.state)},
                          {"from", from},
                          {"reason", std::move(reason)}}
                         .dump()};
}

Statement events_statement(const std::string& sweep_id, const std::vector<SweepEvent>& added,
                           std::int64_t seq) {
    std::vector<std::int64_t> numbers;
    std::vector<std::string> events;
    std::vector<std::string> decisions;
    for (const SweepEvent& one : added) {
        numbers.push_back(++seq);
        events.push_back(one.event);
        decisions.push_back(one.decisions);
    }
    return {&queries::insert_sweep_events, {sweep_id, numbers, events, decisions}};
}

Statement trials_statement(const SweepStep& step) {
    Json trials = Json::array();
    for (const SweepTrial& trial : step.trials)
        trials.push_back(trial_json(trial));
    return {&queries::put_sweep_trials,
            {step.sweep_id, trials.dump(-1, ' ', false, Json::error_handler_t::replace)}};
}

}    // namespace

SweepChanged::SweepChanged(std::string_view id)
    : Error(ErrorCode::conflict, fmt::format("the sweep {} has just changed; try again", id)) {}

Sweep create_sweep(Store& store, const Sweep& sweep, const JsonText& known,
                   const SweepCreationLimits& limits, const std::optional<SplitUse>& split) {
    const std::int64_t active_max = limits.active_max;
    transact(store.pool(), [&](Transaction& transaction) {
        transaction.run(queries::lock_project_sweeps, {sweep.project});
        const Rows rows = transaction.run(queries::count_project_sweeps, {sweep.project});
        if (active_max > 0 && rows[0].integer("sweeps") >= active_max)
            throw Error{ErrorCode::exhausted,
                        fmt::format("project {} has {}, which is the "
                                    "maximum (--active-sweeps-max of the service); wait until one "
                                    "has ended, or stop one",
                                    sweep.project, counted(active_max, "unfinished sweep"))};
        const std::optional<std::string> split_id =
            split ? std::optional(use_split_in(transaction, *split, limits.making_splits_max))
                  : std::nullopt;
        transaction.commit({{&queries::insert_sweep,
                             {sweep.id, sweep.name, sweep.project, labels_to_json(sweep.labels),
                              sweep.spec, sweep.max_trials, sweep.max_concurrent, sweep.external,
                              sweep.created_by, known, split_id}}});
    });
    if (split) store.announce(topics::datasets);
    store.announce(sweep.id);
    return find_sweep(store, sweep.id).value();
}

std::optional<Sweep> find_sweep(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_sweep, {id});
    if (rows.empty()) return std::nullopt;
    return read_sweep(rows[0]);
}

Page<Sweep> list_sweeps(Store& store, const SweepFilter& filter, const PageRequest& page) {
    std::string scope =
        "sweeps\nname " + filter.name_contains + "\nlabels " + labels_to_json(filter.labels);
    for (const std::string& project : filter.projects)
        scope += "\nproject " + project;
    for (const std::string& state : state_words(filter.states))
        scope += "\nstate " + state;
    const Rows rows =
        read(store.pool(), queries::list_sweeps,
             {Param::or_null(filter.projects), Param::or_null(state_words(filter.states)),
              filter.name_contains.empty() ? Param(std::nullopt)
                                           : Param(contains_pattern(filter.name_contains)),
              filter.labels.empty() ? Param(std::nullopt) : Param(labels_to_json(filter.labels)),
              place_of(scope, page), rows_to_ask(page), page_bytes_max});
    return make_cut_page<Sweep>(rows, page, scope, read_sweep, place_of_id);
}

JsonText find_known_results(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_known_results, {id});
    return rows.empty() ? "[]" : rows[0].text("known");
}

std::vector<ActiveSweep> list_active_sweeps(Store& store, int limit) {
    std::vector<ActiveSweep> sweeps;
    for (const Row row : read(store.pool(), queries::list_active_sweeps, {limit}))
        sweeps.push_back({.id = row.text("id"),
                          .version = row.integer("version"),
                          .project = row.text("project"),
                          .created_by = row.text("created_by")});
    return sweeps;
}

std::vector<std::string> list_untidied_sweeps(Store& store, int limit) {
    std::vector<std::string> ids;
    for (const Row row : read(store.pool(), queries::list_untidied_sweeps, {limit}))
        ids.push_back(row.text("id"));
    return ids;
}

void mark_sweep_tidied(Store& store, std::string_view id, const LeaderTerm& term) {
    transact(store.pool(), [&](Transaction& transaction) {
        std::vector<Statement> statements{{&queries::mark_sweep_tidied, {id}}};
        if (term.number > 0) statements.push_back(check_statement(term));
        transaction.commit(std::move(statements));
    });
}

std::vector<IdleCheckpoint> list_idle_checkpoints(Store& store, std::string_view sweep_id,
                                                  std::string_view after, int limit) {
    std::vector<IdleCheckpoint> found;
    for (const Row row : read_with_kept_plan(
             store.pool(), {&queries::list_idle_sweep_checkpoints, {sweep_id, after, limit}}))
        found.push_back({.id = row.text("id"),
                         .job_id = row.text("job_id"),
                         .key = row.text("parent_key"),
                         .saved = {.step = row.integer("step"),
                                   .epoch = row.integer("epoch"),
                                   .metric_name = row.text("metric_name"),
                                   .metric_value = row.maybe_number("metric_value")}});
    return found;
}

std::vector<EndedTrialJob> list_whole_reports(Store& store, std::string_view sweep_id,
                                              std::string_view after, int limit) {
    std::vector<EndedTrialJob> found;
    for (const Row row : read_with_kept_plan(
             store.pool(), {&queries::list_whole_sweep_reports, {sweep_id, after, limit}}))
        found.push_back({.id = row.text("id"), .key = row.text("parent_key")});
    return found;
}

std::int64_t trim_reports(Store& store, const std::vector<std::string>& job_ids) {
    if (job_ids.empty()) return 0;
    return write(store.pool(), queries::trim_reports, {job_ids}).size();
}

bool is_report_trimmed(Store& store, std::string_view job_id) {
    return read(store.pool(), queries::is_report_trimmed, {job_id})[0].flag("trimmed");
}

Page<SweepTrial> list_sweep_trials(Store& store, std::string_view sweep_id,
                                   const std::vector<std::string>& states, TrialOrder order,
                                   bool lower_is_better, const PageRequest& page) {
    std::string scope = fmt::format("trials {} {}", sweep_id, int(order));
    for (const std::string& state : states)
        scope += "\nstate " + state;
    const bool ascends = (order == TrialOrder::best) == lower_is_better;
    const Query& query = order == TrialOrder::number ? queries::list_sweep_trials_by_number
                         : ascends                   ? queries::list_sweep_trials_by_value
                                   : queries::list_sweep_trials_by_value_descending;
    const Rows rows = read(store.pool(), query,
                           {sweep_id, Param::or_null(states), place_of(scope, page),
                            rows_to_ask(page), page_bytes_max});
    return make_cut_page<SweepTrial>(rows, page, scope, read_trial, [](const Row& row) {
        return CursorPlace{std::to_string(row.small("number")), ""};
    });
}

std::vector<SweepTrial> all_sweep_trials(Store& store, std::string_view sweep_id) {
    std::vector<SweepTrial> trials;
    for (const Row row : read(store.pool(), queries::all_sweep_trials, {sweep_id}))
        trials.push_back(read_trial(row));
    return trials;
}

std::optional<SweepTrial> find_sweep_trial(Store& store, std::string_view sweep_id, int number) {
    const Rows rows = read(store.pool(), queries::find_sweep_trial, {sweep_id, number});
    if (rows.empty()) return std::nullopt;
    return read_trial(rows[0]);
}

std::vector<FailedTrial> list_failed_trials(Store& store, std::string_view sweep_id) {
    std::vector<FailedTrial> trials;
    for (const Row row : read(store.pool(), queries::list_failed_trials, {sweep_id}))
        trials.push_back({.number = row.small("number"),
                          .code = failure_code(row),
                          .reason = row.text("reason"),
                          .job_id = row.text("job_id")});
    return trials;
}

SweepLogPage list_sweep_events(Store& store, std::string_view sweep_id, std::int64_t after,
                               int limit) {
    const Rows rows =
        read(store.pool(), queries::list_sweep_events, {sweep_id, after, limit, page_bytes_max});
    SweepLogPage page{.events = {},
                      .more = rows.size() == limit ||
                              (!rows.empty() && rows.size() < rows[0].small("rows_found"))};
    for (const Row row : rows)
        page.events.push_back({.seq = row.integer("seq"),
                               .at = row.time("at"),
                               .event = row.text("event"),
                               .decisions = row.text("decisions")});
    return page;
}

std::vector<TrialJob> list_open_trial_jobs(Store& store,
                                           const std::vector<std::string>& sweep_ids) {
    std::vector<TrialJob> jobs;
    for (const Row row :
         read_with_kept_plan(store.pool(), {&queries::list_open_trial_jobs, {sweep_ids}})) {
        TrialJob job{.sweep_id = row.text("sweep_id"),
                     .trial = row.small("number"),
                     .job_id = row.text("job_id"),
                     .reason = reason_of(row),
                     .seen = row.integer("seen")};
        if (!row.is_null("state")) job.state = read_state(row);
        jobs.push_back(std::move(job));
    }
    return jobs;
}

double sweep_core_seconds(Store& store, std::string_view sweep_id) {
    return read(store.pool(), queries::sweep_core_seconds, {sweep_id})[0].number("core_seconds");
}

std::optional<std::string> find_job_of_parent(Store& store, std::string_view parent_id,
                                              std::string_view key) {
    const Rows rows = read(store.pool(), queries::find_job_of_parent, {parent_id, key});
    if (rows.empty()) return std::nullopt;
    return rows[0].text("id");
}

void write_sweep_step(Transaction& transaction, const SweepStep& step, const LeaderTerm& term) {
    const Rows locked = transaction.run(queries::lock_sweep, {step.sweep_id});
    if (locked.empty() || locked[0].integer("version") != step.version)
        throw SweepChanged(step.sweep_id);
    const std::int64_t seq = locked[0].integer("seq");
    std::vector<SweepEvent> events = step.events;
    const std::string from = locked[0].text("state");
    if (step.state && to_string(*step.state) != from) events.push_back(state_line(step, from));
    std::vector<Statement> statements;
    if (!events.empty()) statements.push_back(events_statement(step.sweep_id, events, seq));
    if (!step.trials.empty()) statements.push_back(trials_statement(step));
    for (const auto& [job_id, reason] : step.ends) {
        if (auto ask = lock_and_ask(transaction, job_id, Intent::cancel, reason))
            statements.push_back(std::move(*ask));
    }
    statements.push_back(change_statement(step, seq + std::int64_t(events.size())));
    if (term.number > 0) statements.push_back(check_statement(term));
    transaction.run(std::move(statements));
}

Sweep commit_sweep_step(Store& store, const SweepStep& step, const LeaderTerm& term) {
    Sweep sweep = transact(store.pool(), [&](Transaction& transaction) {
        write_sweep_step(transaction, step, term);
        const std::vector<Rows> answers =
            transaction.commit({{&queries::find_sweep, {step.sweep_id}}});
        return read_sweep(answers[0][0]);
    });
    announce_sweep_step(store, step);
    return sweep;
}

void announce_sweep_step(Store& store, const SweepStep& step) {
    store.announce(step.sweep_id);
    for (const auto& [job_id, reason] : step.ends)
        store.announce(job_id);
}

bool delete_sweep(Store& store, std::string_view id) {
    return transact(store.pool(), [&](Transaction& transaction) {
        const Rows locked = transaction.run(queries::lock_sweep, {id});
        if (locked.empty()) return false;
        if (locked[0].is_null("finished_at"))
            throw Error{ErrorCode::conflict,
                        fmt::format("a sweep that is {} cannot be deleted; stop it first",
                                    locked[0].text("state"))};
        if (!transaction.run(queries::find_job_of_sweep, {id}).empty())
            throw Error{ErrorCode::conflict, "the sweep still has jobs; try again"};
        transaction.commit({{&queries::delete_sweep, {id}}});
        return true;
    });
}

}    // namespace slipway::store
