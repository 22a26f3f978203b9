#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/retention.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {

namespace {

/// What the service would do, were this its policy.
Json rule_of(const Context& context, store::RetainedKind kind) {
    std::optional<int> days = context.services.retention.of(kind);
    if (const auto other =
            query_number(context.request, fmt::format("{}_days", to_string(kind)), 0))
        days = static_cast<int>(other);
    const store::RetentionDue due =
        days ? store::preview_retention(context.services.store, kind, *days)
             : store::RetentionDue{};
    return {{"kind", to_string(kind)},
            {"days", days ? Json(*days) : Json()},
            {"due_jobs", due.jobs},
            {"due_checkpoints", due.checkpoints},
            {"due_bytes", due.checkpoint_bytes}};
}

}    // namespace

Response preview_retention(const Context& context) {
    require_all_projects(context.who, "retention is of all projects", "see it");
    Json items = Json::array();
    for (std::size_t number = 0; number < store::retained_kinds; ++number)
        items.push_back(rule_of(context, static_cast<store::RetainedKind>(number)));
    return json_response(render_list(std::move(items), ""));
}

}    // namespace slipway::routes
