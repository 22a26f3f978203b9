#include "server/routes/sweep_answer.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/render.h"

namespace slipway::routes {

namespace {

template <class T>
Json value_or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

}    // namespace

store::Sweep the_sweep(const Context& context) {
    const std::string& id = context.request.parameter("id");
    auto sweep = is_id("swp", id) ? store::find_sweep(context.services.store, id)
                                  : std::optional<store::Sweep>{};
    if (!sweep || !reaches(context, sweep->project)) throw_not_found("sweep", id);
    return *std::move(sweep);
}

store::SweepTrial the_trial(const Context& context, const store::Sweep& sweep) {
    const std::string& text = context.request.parameter("tid");
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = error == std::errc() && end == text.data() + text.size() && number >= 0;
    auto trial = is_number ? store::find_sweep_trial(context.services.store, sweep.id, number)
                           : std::optional<store::SweepTrial>{};
    if (!trial) throw_not_found("trial", text);
    return *std::move(trial);
}

search::Point point_of(const store::SweepTrial& trial) {
    search::Point point;
    const Json stored = stored_json(trial.point);
    for (const auto& [path, value] : stored.items())
        point[path] = value;
    return point;
}

Json render_sweep(const store::Sweep& sweep) {
    Json out{{"id", sweep.id},
             {"name", sweep.name},
             {"project", sweep.project},
             {"labels", sweep.labels},
             {"state", to_string(sweep.state)},
             {"reason", nullptr},
             {"spec", stored_json(sweep.spec)},
             {"max_trials", sweep.max_trials},
             {"max_concurrent", sweep.max_concurrent},
             {"trials",
              {{"total", sweep.counts.trials},
               {"running", sweep.counts.running},
               {"paused", sweep.counts.paused},
               {"completed", sweep.counts.completed},
               {"stopped", sweep.counts.stopped},
               {"failed", sweep.counts.failed}}},
             {"best", nullptr},
             {"split_id", text_or_null(sweep.split_id)},
             {"created_by", text_or_null(sweep.created_by)},
             {"created_at", to_rfc3339(sweep.created_at)},
             {"finished_at", render_time(sweep.finished_at)}};
    if (sweep.reason)
        out["reason"] = {{"code", sweep.reason->code}, {"message", sweep.reason->message}};
    if (sweep.best) out["best"] = {{"trial", sweep.best->trial}, {"value", sweep.best->value}};
    return out;
}

Json render_trial(const store::SweepTrial& trial) {
    return {{"number", trial.number},
            {"state", trial.state},
            {"point", stored_json(trial.point)},
            {"until", trial.until > 0 ? Json(trial.until) : Json(nullptr)},
            {"value", value_or_null(trial.value)},
            {"value_time", value_or_null(trial.value_time)},
            {"last_value", value_or_null(trial.last_value)},
            {"last_time", value_or_null(trial.last_time)},
            {"reports", trial.reports},
            {"lineage", stored_json(trial.lineage)},
            {"fold_values", stored_json(trial.fold_values)},
            {"job_id", text_or_null(trial.job_id)},
            {"jobs", trial.jobs},
            {"reason", text_or_null(trial.reason)},
            {"started_at", to_rfc3339(trial.started_at)},
            {"ended_at", render_time(trial.ended_at)}};
}

Response sweep_response(const store::Sweep& sweep, int status) {
    return json_response(render_sweep(sweep), status).with("ETag", version_etag(sweep.version));
}

store::Sweep change_sweep(
    const Context& context,
    const std::function<std::optional<store::SweepStep>(const store::Sweep&)>& change) {
    for (int tries_left = step_tries_max;; --tries_left) {
        store::Sweep sweep = the_sweep(context);
        std::optional<store::SweepStep> step = change(sweep);
        if (!step) return sweep;
        step->sweep_id = sweep.id;
        step->version = sweep.version;
        try {
            return store::commit_sweep_step(context.services.store, *step);
        } catch (const store::SweepChanged&) {
            // The coordinator works on it all the time: what is asked for goes after its step.
            if (tries_left == 0) throw;
        }
    }
}

}    // namespace slipway::routes
