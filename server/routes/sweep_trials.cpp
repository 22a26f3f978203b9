#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/parsed_json.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/jobs.h"
#include "scheduler/sweeps/plan.h"
#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/routes/sweep_answer.h"
#include "server/sse/job_stream.h"

namespace slipway::routes {
namespace {

store::TrialOrder order_asked(const Request& request) {
    const std::string word = query_text(request, "order_by");
    if (word == "best") return store::TrialOrder::best;
    return word == "worst" ? store::TrialOrder::worst : store::TrialOrder::number;
}

// The best checkpoint of a job that is kept, else the newest one.
Json checkpoint_of(store::Store& store, const std::string& job_id) {
    const auto job = store::find_job(store, job_id);
    if (!job) return nullptr;
    const Json best = stored_json(job->best);
    const std::string id = best.is_object() ? best.value("checkpoint", "") : std::string();
    const auto found =
        is_id("ckp", id) ? store::find_checkpoint(store, id) : std::optional<store::Checkpoint>{};
    if (found && !found->deleted_at) return found->id;
    const auto newest = store::find_newest_checkpoint(store, job_id);
    return newest ? Json(newest->id) : Json(nullptr);
}

std::vector<store::SweepEvent> log_page(const Context& context, const store::Sweep& sweep) {
    const int limit = int(query_number(context.request, "limit", 50));
    return store::list_sweep_events(context.services.store, sweep.id,
                                    query_number(context.request, "after", 0), limit);
}

Json decision_line(const store::SweepEvent& entry, Json detail) {
    Json line{{"seq", entry.seq},
              {"at", to_rfc3339(entry.at)},
              {"action", detail.value("action", "limit")},
              {"trial", detail.contains("trial") ? detail["trial"] : Json(nullptr)},
              {"reason", detail.value("reason", detail.value("message", ""))}};
    line["detail"] = std::move(detail);
    return line;
}

// A list that goes on after the last sequence number: the cursor of a log.
Json log_list(Json items, const std::vector<store::SweepEvent>& page, const Context& context) {
    const auto limit = std::size_t(query_number(context.request, "limit", 50));
    Json out{{"items", std::move(items)}, {"next_cursor", nullptr}};
    if (page.size() == limit && !page.empty()) out["next_cursor"] = std::to_string(page.back().seq);
    return out;
}

}    // namespace

Response list_sweep_trials(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    const auto spec = decode_sweep(stored_json(sweep.spec));
    const auto page = store::list_sweep_trials(
        context.services.store, sweep.id, query_words(context.request, "state"),
        order_asked(context.request), spec.value.objective.mode == MetricMode::min,
        query_page(context.request));
    Json items = Json::array();
    for (const store::SweepTrial& trial : page.items)
        items.push_back(render_trial(trial));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_sweep_best(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    const auto trial =
        sweep.best ? store::find_sweep_trial(context.services.store, sweep.id, sweep.best->trial)
                   : std::optional<store::SweepTrial>{};
    if (!trial) throw_not_found("best trial of sweep", sweep.id);
    Json out{{"trial", render_trial(*trial)},
             {"job_id", trial->job_id.empty() ? Json(nullptr) : Json(trial->job_id)},
             {"checkpoint_id", nullptr},
             {"spec", nullptr}};
    if (!trial->job_id.empty())
        out["checkpoint_id"] = checkpoint_of(context.services.store, trial->job_id);
    const auto spec = decode_sweep(stored_json(sweep.spec));
    if (spec.ok() && !spec.value.is_external()) {
        const auto job = sweeps::trial_spec(spec.value, point_of(*trial), 0);
        if (job) out["spec"] = *job;
    }
    return json_response(out);
}

Response list_sweep_decisions(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    const auto page = log_page(context, sweep);
    Json items = Json::array();
    for (const store::SweepEvent& entry : page) {
        const Json event = stored_json(entry.event);
        if (event.value("type", "") == "limit") items.push_back(decision_line(entry, event));
        for (const Json& decision : stored_json(entry.decisions))
            items.push_back(decision_line(entry, decision));
    }
    return json_response(log_list(std::move(items), page, context));
}

Response list_sweep_events(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    if (wants_event_stream(context.request))
        return job_event_stream(context.services.hub, context.request, sweep.id, sweep.project,
                                context.who.token_id);
    const auto page = log_page(context, sweep);
    Json items = Json::array();
    for (const store::SweepEvent& entry : page)
        items.push_back({{"seq", entry.seq},
                         {"at", to_rfc3339(entry.at)},
                         {"event", stored_json(entry.event)},
                         {"decisions", stored_json(entry.decisions)}});
    return json_response(log_list(std::move(items), page, context));
}

}    // namespace slipway::routes
