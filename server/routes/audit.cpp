#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/access.h"
#include "server/http/problem.h"
#include "server/routes/handlers.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {

// Entries name objects of every project: an admin of some of them would learn of the others.
Response list_audit(const Context& context) {
    if (!context.who.projects.empty())
        throw ProblemError(
            {.status = 403,
             .code = "permission_denied",
             .detail = fmt::format("the audit log is of all projects: an admin's token that is "
                                   "bound to projects ({}) cannot read it",
                                   fmt::join(context.who.projects, ", "))});
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
