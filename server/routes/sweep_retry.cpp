// Trials that failed, tried again: one of them, or all that failed for some reasons. The events are
// taken into the run as the coordinator would, so that the log, its decisions and the rows of the
// trials are those of one step; the coordinator then finds trials that run without a job.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "api/spec/requests.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/rights.h"
#include "scheduler/sweeps/coordinator.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/heavy_requests.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/sweep_answer.h"

namespace slipway::routes {
namespace {

constexpr std::size_t items_max = 1000;

using store::FailedTrial;

void require_retries(const sweeps::SweepRun& run) {
    const bool races = run.spec.objective.fold_pruning.has_value();
    if (search::can_retry(run.spec.algorithm.name, races)) return;
    throw Error{
        ErrorCode::conflict,
        fmt::format("a trial of {} cannot be retried: the others have continued without it",
                    races ? "a sweep with fold pruning" : to_string(run.spec.algorithm.name))};
}

// A sweep that a limit would end at once is left as it is.
void require_room(const Context& context, const sweeps::SweepRun& run) {
    store::Store& store = context.services.store;
    const store::Sweep& sweep = run.sweep;
    sweeps::Observation seen;
    if (run.spec.limits.max_core_s) seen.core_s = store::sweep_core_seconds(store, sweep.id);
    seen.age_s =
        std::chrono::duration<double>(context.services.clock.now() - sweep.created_at).count();
    seen.owner_is_lost =
        !store::list_lost_rights(store, {{sweep.created_by, sweep.project, TokenRole::editor}})
             .empty();
    const auto limit = sweeps::limit_reached(run, seen);
    if (!limit) return;
    throw Error{ErrorCode::conflict,
                fmt::format("the sweep would end again at once: {} ({}); try more trials again, or "
                            "start a new sweep that knows the results of this one (warm_start)",
                            limit->message, limit->code)};
}

// The step that tries these trials again.
store::SweepStep retry_step(const Context& context, const store::Sweep& sweep,
                            const std::vector<FailedTrial>& chosen) {
    if (sweep.state == SweepState::stopping)
        throw Error{ErrorCode::conflict,
                    "the sweep is stopping; it cannot be continued until it has ended"};
    sweeps::SweepRun run =
        sweeps::load_run(context.services.store, sweep, [&] { require_client(context.request); });
    require_retries(run);
    sweeps::StepLog log;
    for (const FailedTrial& trial : chosen)
        sweeps::take(run, log, search::RetryEvent{trial.number},
                     fmt::format("a user tries it again; before: {}", trial.reason));
    if (is_final(sweep.state)) require_room(context, run);
    store::SweepStep step = sweeps::step_of(run, log);
    if (is_final(sweep.state)) step.state = SweepState::running;
    return step;
}

bool is_chosen(const FailedTrial& trial, const std::vector<std::string>& codes) {
    return codes.empty() || std::ranges::find(codes, trial.code) != codes.end();
}

Json render_failed(const FailedTrial& trial) {
    const auto or_null = [](const std::string& text) {
        return text.empty() ? Json(nullptr) : Json(text);
    };
    return {{"number", trial.number},
            {"code", trial.code},
            {"reason", or_null(trial.reason)},
            {"job_id", or_null(trial.job_id)}};
}

Json retry_answer(const std::vector<FailedTrial>& failed, const std::vector<FailedTrial>& chosen,
                  SweepState state, bool dry_run) {
    std::map<std::string, int> codes;
    for (const FailedTrial& trial : failed)
        ++codes[trial.code];
    Json items = Json::array();
    for (std::size_t i = 0; i < std::min(chosen.size(), items_max); ++i)
        items.push_back(render_failed(chosen[i]));
    return {{"dry_run", dry_run},       {"state", to_string(state)},
            {"retried", chosen.size()}, {"left", failed.size() - chosen.size()},
            {"codes", codes},           {"items", std::move(items)}};
}

Response retried_sweep(const Context& context) {
    const RetryFailedBody body = read_body(context.request, decode_retry_failed, "the request");
    const bool dry_run = query_flag(context.request, "dry_run");
    std::vector<FailedTrial> failed;
    std::vector<FailedTrial> chosen;
    SweepState after{};
    change_sweep(context, [&](const store::Sweep& sweep) -> std::optional<store::SweepStep> {
        failed = store::list_failed_trials(context.services.store, sweep.id);
        chosen.clear();
        std::ranges::copy_if(failed, std::back_inserter(chosen), [&](const FailedTrial& trial) {
            return is_chosen(trial, body.codes);
        });
        after = sweep.state;
        if (chosen.empty()) return std::nullopt;
        store::SweepStep step = retry_step(context, sweep, chosen);
        after = step.state.value_or(sweep.state);
        if (dry_run) return std::nullopt;
        return step;
    });
    return json_response(retry_answer(failed, chosen, after, dry_run));
}

Response retried_trial(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    the_trial(context, sweep);
    change_sweep(context, [&](const store::Sweep& now) -> std::optional<store::SweepStep> {
        const store::SweepTrial again = the_trial(context, now);
        if (again.state == "running") return std::nullopt;    // repeated
        if (again.state != "failed")
            throw Error{ErrorCode::conflict,
                        fmt::format("trial {} is {}; only a failed trial can be retried",
                                    again.number, again.state)};
        return retry_step(context, now, {{.number = again.number, .reason = again.reason}});
    });
    return json_response(render_trial(the_trial(context, sweep)));
}

}    // namespace

Response retry_sweep(const Context& context) {
    return context.services.heavy_requests->run(context.request, context.who.token_id,
                                                [&] { return retried_sweep(context); });
}

Response retry_sweep_trial(const Context& context) {
    return context.services.heavy_requests->run(context.request, context.who.token_id,
                                                [&] { return retried_trial(context); });
}

}    // namespace slipway::routes
