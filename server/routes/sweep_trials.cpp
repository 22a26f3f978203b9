#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/parsed_json.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/sweeps/plan.h"
#include "scheduler/sweeps/value_checkpoint.h"
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

void put_checkpoint(Json& out, const sweeps::ValueCheckpoint& found) {
    out["checkpoint_id"] = found.checkpoint ? Json(found.checkpoint->id) : Json(nullptr);
    out["checkpoint_reason"] = found.checkpoint ? Json(nullptr) : Json(found.missing);
    if (found.checkpoint) out["job_id"] = found.checkpoint->job_id;
}

Json render_fold_weights(const std::vector<sweeps::FoldCheckpoint>& folds) {
    Json items = Json::array();
    for (const sweeps::FoldCheckpoint& fold : folds) {
        Json item{{"fold", fold.fold}, {"value", fold.value}, {"job_id", nullptr}};
        put_checkpoint(item, fold.weights);
        items.push_back(std::move(item));
    }
    return items;
}

store::SweepLogPage log_page(const Context& context, const store::Sweep& sweep) {
    const int limit = int(query_number(context.request, "limit", 50));
    return store::list_sweep_events(context.services.store, sweep.id,
                                    query_sequence(context.request), limit);
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

// A list that goes on after the last sequence number: the cursor of a log. Empty: at its end.
std::string next_of(const store::SweepLogPage& page) {
    return page.more ? std::to_string(page.events.back().seq) : "";
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
             {"checkpoint_reason", "the sweep was stored by another version"},
             {"folds", Json::array()},
             {"spec", nullptr}};
    const auto spec = decode_sweep(stored_json(sweep.spec));
    if (!spec.ok()) return json_response(out);
    store::Store& store = context.services.store;
    put_checkpoint(out, sweeps::find_value_checkpoint(store, sweep.id, spec.value, *trial));
    out["folds"] =
        render_fold_weights(sweeps::list_fold_checkpoints(store, sweep.id, spec.value, *trial));
    if (spec.value.is_external()) return json_response(out);
    const auto job = sweeps::trial_spec(spec.value, point_of(*trial), 0);
    if (job) out["spec"] = *job;
    return json_response(out);
}

Response list_sweep_decisions(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    const auto page = log_page(context, sweep);
    Json items = Json::array();
    for (const store::SweepEvent& entry : page.events) {
        const Json event = stored_json(entry.event);
        if (event.value("type", "") == "limit") items.push_back(decision_line(entry, event));
        for (const Json& decision : stored_json(entry.decisions))
            items.push_back(decision_line(entry, decision));
    }
    return json_response(render_list(std::move(items), next_of(page)));
}

Response list_sweep_events(const Context& context) {
    const store::Sweep sweep = the_sweep(context);
    if (wants_event_stream(context.request))
        return job_event_stream(context.services.hub, context.request, sweep.id, sweep.project,
                                context.who.token_id);
    const auto page = log_page(context, sweep);
    // As they are stored: 2 MB of points are neither parsed nor written again.
    std::vector<JsonText> items;
    for (const store::SweepEvent& entry : page.events)
        items.push_back(fmt::format(R"({{"seq":{},"at":"{}","event":{},"decisions":{}}})",
                                    entry.seq, to_rfc3339(entry.at), entry.event, entry.decisions));
    return json_text_response(render_list(items, next_of(page)));
}

}    // namespace slipway::routes
