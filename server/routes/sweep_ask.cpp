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
#include "scheduler/sweeps/simulation.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/render.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

void require_external(const store::Sweep& sweep) {
    if (!sweep.external)
        throw Error{ErrorCode::conflict,
                    "the trials of this sweep are jobs, which the service runs; only a sweep "
                    "without job has trials that run elsewhere"};
    if (sweep.state != SweepState::running)
        throw Error{ErrorCode::conflict, fmt::format("the sweep is {}; resume or extend it first",
                                                     to_string(sweep.state))};
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
        auto lent = services.kept_runs->borrow(services.store, the_sweep(context));
        sweeps::SweepRun& run = lent.run();
        sweeps::CoordinatorStep step;
        try {
            require_external(run.sweep);
            act(run, step);
        } catch (const Error&) {
            if (step.log.events.empty()) lent.keep(run.sweep);    // nothing was done to it
            throw;
        }
        try {
            store::Sweep after =
                store::commit_sweep_step(services.store, follow_up(context, run, step));
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
    if (body.time)
        sweeps::take(
            run, step.log,
            search::ReportEvent{.trial = trial, .time = *body.time, .value = value_of(body)});
    const bool runs = run.search.trials()[std::size_t(trial)].state == search::TrialState::running;
    if (body.end.empty() || !runs) return;
    const bool failed = body.end == "failed";
    sweeps::take(run, step.log, search::EndEvent{.trial = trial, .failed = failed},
                 failed ? "reported as failed" : "");
}

}    // namespace

Response suggest_sweep_trials(const Context& context) {
    const SweepSuggestBody body = read_body(context.request, decode_sweep_suggest, "the request");
    std::vector<int> numbers;
    std::string message;
    const store::Sweep sweep =
        take_step(context, [&](sweeps::SweepRun& run, sweeps::CoordinatorStep& step) {
            numbers.clear();
            message.clear();
            while (std::int64_t(numbers.size()) < body.count && message.empty()) {
                if (sweeps::count_trials(run).running >= run.sweep.max_concurrent) {
                    message = fmt::format("the maximum of {} is running (max_concurrent)",
                                          counted(run.sweep.max_concurrent, "trial"));
                    break;
                }
                if (!run.waits) sweeps::take(run, step.log, search::AskEvent{});
                if (run.waits) {
                    message = run.over_because;
                    break;
                }
                numbers.push_back(int(step.log.events.back().decisions.back().trial));
            }
        });
    Json trials = Json::array();
    for (const int number : numbers) {
        const auto trial = store::find_sweep_trial(context.services.store, sweep.id, number);
        if (!trial) throw Error{ErrorCode::not_found, "the sweep was deleted: " + sweep.id};
        trials.push_back(render_trial(*trial));
    }
    return json_response({{"trials", std::move(trials)},
                          {"state", to_string(sweep.state)},
                          {"message", message.empty() ? Json(nullptr) : Json(message)}});
}

Response observe_sweep_trial(const Context& context) {
    const SweepObserveBody body =
        read_body(context.request, decode_sweep_observe, "the observation");
    const store::Sweep sweep = the_sweep(context);
    const store::SweepTrial trial = the_trial(context, sweep);
    take_step(context, [&](sweeps::SweepRun& run, sweeps::CoordinatorStep& step) {
        const auto state = run.search.trials()[std::size_t(trial.number)].state;
        if (state != search::TrialState::running)
            throw Error{ErrorCode::conflict,
                        fmt::format("trial {} is {}; only one that runs can be observed",
                                    trial.number, to_string(state))};
        observe(body, trial.number, run, step);
    });
    return json_response(render_trial(the_trial(context, sweep)));
}

Response get_sweep_importance(const Context& context) {
    const sweeps::SweepRun run = sweeps::load_run(context.services.store, the_sweep(context));
    Json items = Json::array();
    for (const sweeps::Importance& one : sweeps::importance_of(run.search))
        items.push_back(
            {{"parameter", one.path}, {"explained", one.explained}, {"groups", one.groups}});
    return json_response({{"items", std::move(items)}});
}

Response simulate_sweep(const Context& context) {
    const SweepSimulateBody body =
        read_body(context.request, decode_sweep_simulate, "the simulation");
    const sweeps::SweepRun run = sweeps::load_run(context.services.store, the_sweep(context));
    if (run.spec.cross_validation)
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
    const auto done = sweeps::simulate(run, body.algorithm,
                                       body.max_concurrent.value_or(run.sweep.max_concurrent));
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
        out["core_s_saved"] =
            saved * store::sweep_core_seconds(context.services.store, run.sweep.id);
    }
    return json_response(out);
}

}    // namespace slipway::routes
