// Sweeps whose trials run elsewhere (ask and tell), and what recorded trials say: importance, and
// what another algorithm would have done.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/base/plural.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/stored_json.h"
#include "scheduler/sweeps/coordinator.h"
#include "scheduler/sweeps/importance.h"
#include "scheduler/sweeps/leases.h"
#include "scheduler/sweeps/simulation.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/problems.h"
#include "server/routes/render.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

/// Of one request, in values and steps of constraints (search::Search::effort): about 50 ms.
constexpr std::int64_t suggest_effort_max = 20'000'000;

void require_external(const store::Sweep& sweep) {
    if (!sweep.external)
        throw Error{ErrorCode::conflict,
                    "the trials of this sweep are jobs, which the service runs; only a sweep "
                    "without job has trials that run elsewhere"};
}

void require_running(const store::Sweep& sweep) {
    if (sweep.state != SweepState::running)
        throw Error{ErrorCode::conflict, fmt::format("the sweep is {}; resume or extend it first",
                                                     to_string(sweep.state))};
}

sweeps::KeepGoing while_asked(const Context& context) {
    return [&request = context.request] { require_client(request); };
}

store::SweepStep follow_up(const Context& context, sweeps::SweepRun& run,
                           sweeps::CoordinatorStep& step) {
    const auto age = context.services.clock.now() - run.sweep.created_at;
    sweeps::settle_external(run, step, std::chrono::duration<double>(age).count());
    store::SweepStep stored = sweeps::step_of(run, step.log);
    stored.state = step.state;
    stored.reason = step.reason;
    return stored;
}

// Takes what `act` adds to the log, and what follows from it, as one step; again when somebody else
// has changed the sweep meanwhile.
template <class Act>
store::Sweep take_step(const Context& context, const Act& act) {
    const Services& services = context.services;
    for (int tries_left = step_tries_max;; --tries_left) {
        store::Sweep sweep = the_sweep(context);
        require_external(sweep);
        auto lent =
            services.kept_runs->borrow(services.store, std::move(sweep), while_asked(context));
        sweeps::SweepRun& run = lent.run();
        sweeps::CoordinatorStep step;
        try {
            act(run, step);
        } catch (const Error&) {
            if (step.log.events.empty()) lent.keep(run.sweep);    // nothing was done to it
            throw;
        }
        try {
            store::SweepStep stored = follow_up(context, run, step);
            store::Sweep after =
                step.is_empty() ? run.sweep : store::commit_sweep_step(services.store, stored);
            lent.keep(after);
            return after;
        } catch (const store::SweepChanged&) {
            if (tries_left == 0) throw;
        }
    }
}

double value_of(const SweepObserveBody& body) {
    if (body.value) return *body.value;
    const double infinity = std::numeric_limits<double>::infinity();
    if (body.nonfinite == "nan") return std::numeric_limits<double>::quiet_NaN();
    return body.nonfinite == "inf" ? infinity : -infinity;
}

void observe(const SweepObserveBody& body, int trial, sweeps::SweepRun& run,
             sweeps::CoordinatorStep& step) {
    const auto runs = [&] {
        return run.search.trials()[std::size_t(trial)].state == search::TrialState::running;
    };
    if (body.time)
        sweeps::take(
            run, step.log,
            search::ReportEvent{.trial = trial, .time = *body.time, .value = value_of(body)});
    if (!body.end.empty() && runs()) {
        const bool failed = body.end == "failed";
        if (!failed && run.search.trials()[std::size_t(trial)].reports.empty())
            throw_problems({{"/value", "missing_field",
                             fmt::format("value is required: trial {} has reported none, so it "
                                         "cannot be completed; give time and value (or nonfinite), "
                                         "or end failed",
                                         trial)}},
                           "invalid_body", "the observation");
        sweeps::take(run, step.log, search::EndEvent{.trial = trial, .failed = failed},
                     failed ? "reported as failed" : "");
    }
}

/// Each observation of a trial renews its lease; `lease_s` changes it.
void renew_lease(const SweepObserveBody& body, int trial, sweeps::SweepRun& run,
                 sweeps::CoordinatorStep& step, Instant now) {
    if (run.search.trials()[std::size_t(trial)].state != search::TrialState::running) return;
    const auto found = run.leases.find(trial);
    const bool was_free = found != run.leases.end() && found->second.is_free;
    if (body.lease_s || was_free) {
        sweeps::hand_out(run, step.log, trial, body.lease_s.value_or(0), now);
    } else if (body.time) {
        sweeps::note_report(run.leases, trial, now);
    }
}

/// The last trial has ended: the search says so now, and not at the next `suggest`.
void ask_for_the_end(sweeps::SweepRun& run, sweeps::CoordinatorStep& step) {
    if (sweeps::count_trials(run).running > 0 || run.search.startable() > 0) return;
    sweeps::take(run, step.log, search::AskEvent{});
    const search::Decision& answer = step.log.events.back().decisions.back();
    // A paused trial is continued: the next `suggest` returns it.
    if (answer.action == search::Action::resume) sweeps::set_free(run, step.log, answer.trial);
}

/// What a request gets and why it gets no more.
struct Suggested {
    std::vector<int> numbers = {};
    std::string message = {};
};

Suggested suggest(const Context& context, const SweepSuggestBody& body, sweeps::SweepRun& run,
                  sweeps::CoordinatorStep& step) {
    Suggested found;
    const Instant now = context.services.clock.now();
    const double lease_s = body.lease_s.value_or(0);
    if (run.sweep.state == SweepState::running) sweeps::expire_leases(run, step.log, now);
    const auto wants_more = [&] { return std::int64_t(found.numbers.size()) < body.count; };
    if (run.sweep.state != SweepState::running) {
        found.message = run.sweep.reason
                            ? run.sweep.reason->message
                            : fmt::format("the sweep is {}", to_string(run.sweep.state));
        return found;
    }
    for (const std::int64_t trial : sweeps::free_trials(run)) {
        if (!wants_more()) return found;
        sweeps::hand_out(run, step.log, trial, lease_s, now);
        found.numbers.push_back(int(trial));
    }
    const std::int64_t effort_before = run.search.effort();
    while (wants_more() && found.message.empty()) {
        require_client(context.request);
        if (sweeps::count_trials(run).running >= run.sweep.max_concurrent) {
            found.message = fmt::format("the maximum of {} is running (max_concurrent)",
                                        counted(run.sweep.max_concurrent, "trial"));
        } else if (run.search.effort() - effort_before > suggest_effort_max) {
            found.message =
                fmt::format("choosing more than {} takes too long in one request; ask again",
                            counted(std::int64_t(found.numbers.size()), "trial"));
        } else {
            if (!run.waits) sweeps::take(run, step.log, search::AskEvent{});
            if (run.waits) {
                found.message = run.over_because;
            } else {
                const std::int64_t trial = step.log.events.back().decisions.back().trial;
                if (lease_s > 0) sweeps::hand_out(run, step.log, trial, lease_s, now);
                found.numbers.push_back(int(trial));
            }
        }
    }
    return found;
}

Json render_importance(const sweeps::Importances& found) {
    Json items = Json::array();
    for (const sweeps::Importance& one : found.parameters)
        items.push_back(
            {{"parameter", one.path}, {"explained", one.explained}, {"total", one.total}});
    Json pairs = Json::array();
    for (const sweeps::PairImportance& one : found.pairs)
        pairs.push_back({{"parameters", {one.first, one.second}}, {"explained", one.explained}});
    return {{"items", std::move(items)}, {"pairs", std::move(pairs)}, {"trials", found.trials}};
}

sweeps::RecordedSweep recorded_trials(const Context& context, const store::Sweep& sweep,
                                      const sweeps::KeepGoing& may_go_on) {
    auto lent = context.services.kept_runs->borrow(context.services.store, sweep, may_go_on);
    sweeps::RecordedSweep recorded = sweeps::recorded_sweep(lent.run());
    lent.keep(lent.run().sweep);
    return recorded;
}

Response simulated(const Context& context) {
    const SweepSimulateBody body =
        read_body(context.request, decode_sweep_simulate, "the simulation");
    const sweeps::KeepGoing may_go_on = while_asked(context);
    const store::Sweep sweep = the_sweep(context);
    if (!sweep.split_id.empty())
        throw Error{ErrorCode::conflict,
                    "the trials of this sweep are cross-validations; only curves of jobs can be "
                    "replayed under another algorithm"};
    if (body.algorithm.name == SearchMethod::pbt)
        throw_problems({{"/algorithm/name",
                         "not_allowed",
                         "algorithm.name cannot be pbt: it changes the values of its trials while "
                         "they train, so recorded curves say nothing about it",
                         {"asha", "hyperband", "median_stop"}}},
                       "invalid_body", "the simulation");
    const auto done =
        sweeps::simulate(recorded_trials(context, sweep, may_go_on), body.algorithm,
                         body.max_concurrent.value_or(sweep.max_concurrent), may_go_on);
    Json out{{"trials", done.trials},
             {"best", nullptr},
             {"regret", nullptr},
             {"time_used", done.time_used},
             {"time_recorded", done.time_recorded},
             {"saved", nullptr},
             {"core_s_saved", nullptr},
             {"cut_short", done.cut_short}};
    if (done.best) out["best"] = {{"trial", done.best->trial}, {"value", done.best->value}};
    if (done.regret && std::isfinite(*done.regret)) out["regret"] = *done.regret;
    if (done.time_recorded > 0) {
        const double saved = 1 - double(done.time_used) / double(done.time_recorded);
        out["saved"] = saved;
        out["core_s_saved"] = saved * store::sweep_core_seconds(context.services.store, sweep.id);
    }
    return json_response(out);
}

}    // namespace

Response suggest_sweep_trials(const Context& context) {
    const SweepSuggestBody body = read_body(context.request, decode_sweep_suggest, "the request");
    Suggested found;
    const store::Sweep sweep =
        take_step(context, [&](sweeps::SweepRun& run, sweeps::CoordinatorStep& step) {
            found = suggest(context, body, run, step);
        });
    Json trials = Json::array();
    for (const int number : found.numbers) {
        const auto trial = store::find_sweep_trial(context.services.store, sweep.id, number);
        if (!trial) throw Error{ErrorCode::not_found, "the sweep was deleted: " + sweep.id};
        trials.push_back(render_trial(*trial));
    }
    return json_response(
        {{"trials", std::move(trials)},
         {"state", to_string(sweep.state)},
         {"message", found.message.empty() ? Json(nullptr) : Json(found.message)}});
}

Response observe_sweep_trial(const Context& context) {
    const SweepObserveBody body =
        read_body(context.request, decode_sweep_observe, "the observation");
    const store::Sweep sweep = the_sweep(context);
    const store::SweepTrial trial = the_trial(context, sweep);
    take_step(context, [&](sweeps::SweepRun& run, sweeps::CoordinatorStep& step) {
        require_running(run.sweep);
        const Instant now = context.services.clock.now();
        const auto state = run.search.trials()[std::size_t(trial.number)].state;
        if (state != search::TrialState::running)
            throw Error{ErrorCode::conflict,
                        fmt::format("trial {} is {}; only one that runs can be observed",
                                    trial.number, to_string(state))};
        observe(body, trial.number, run, step);
        renew_lease(body, trial.number, run, step, now);
        ask_for_the_end(run, step);
    });
    return json_response(render_trial(the_trial(context, sweep)));
}

Response get_sweep_importance(const Context& context) {
    const Services& services = context.services;
    return services.heavy_requests->run(context.request, context.who.token_id, [&] {
        const sweeps::KeepGoing may_go_on = while_asked(context);
        sweeps::ImportanceInputs inputs;
        {
            auto lent = services.kept_runs->borrow(services.store, the_sweep(context), may_go_on);
            inputs = sweeps::importance_inputs(lent.run().search);
            lent.keep(lent.run().sweep);
        }
        return json_response(render_importance(sweeps::importance_of(inputs, may_go_on)));
    });
}

Response simulate_sweep(const Context& context) {
    return context.services.heavy_requests->run(context.request, context.who.token_id,
                                                [&] { return simulated(context); });
}

}    // namespace slipway::routes
