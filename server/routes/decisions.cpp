#include "scheduler/store/decisions.h"

#include <nlohmann/json.hpp>

#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

Json render_decision(const Context& context, const store::Decision& decision) {
    WaitExplanation shown{.code = decision.reason.code,
                          .message = decision.reason.message,
                          .cores = decision.cores,
                          .blocking_job = decision.reason.related_job};
    hide_foreign_job(context, shown);
    const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    return {{"id", decision.id},
            {"at", to_rfc3339(decision.at)},
            {"job_id", decision.job_id},
            {"project", decision.project},
            {"kind", decision.kind},
            {"code", shown.code},
            {"message", shown.message},
            {"host", text(decision.host)},
            {"cores", decision.cores.empty() ? Json() : Json(decision.cores)},
            {"related_job", text(shown.blocking_job)}};
}

}    // namespace

Response list_decisions(const Context& context) {
    const auto page = store::list_decisions(
        context.services.store,
        {.projects = projects_asked(context), .job_id = query_text(context.request, "job")},
        query_page(context.request));
    Json items = Json::array();
    for (const store::Decision& decision : page.items)
        items.push_back(render_decision(context, decision));
    return json_response(render_list(std::move(items), page.next_cursor));
}

}    // namespace slipway::routes
