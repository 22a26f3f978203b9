#include <nlohmann/json.hpp>

#include "scheduler/store/access.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {

Response list_audit(const Context& context) {
    require_all_projects(context.who, "the audit log is of all projects", "read it");
    const Request& request = context.request;
    const auto page = store::list_audit(context.services.store, query_page(request),
                                        {.token_id = query_text(request, "token"),
                                         .action = query_text(request, "action"),
                                         .object = query_text(request, "object")});
    Json items = Json::array();
    for (const store::AuditEntry& entry : page.items)
        items.push_back(render(entry));
    return json_response(render_list(std::move(items), page.next_cursor));
}

}    // namespace slipway::routes
