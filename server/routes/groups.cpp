#include "scheduler/store/groups.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/spec/table/kinds.h"
#include "scheduler/store/projects.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

// A project that has only jobs and no row yet has no groups either.
std::string project_of_groups(const Context& context) {
    const std::string& name = context.request.parameter("p");
    if (!reaches(context, name) || !store::find_project(context.services.store, name))
        throw_not_found("project", name);
    return name;
}

Json render_group(const store::Group& group) {
    return {{"name", group.name},
            {"project", group.project},
            {"limit", group.jobs_max ? Json(*group.jobs_max) : Json()},
            {"running", group.running},
            {"ready", group.ready}};
}

}    // namespace

Response list_groups(const Context& context) {
    const auto page = store::list_groups(context.services.store, project_of_groups(context),
                                         query_page(context.request));
    Json items = Json::array();
    for (const store::Group& group : page.items)
        items.push_back(render_group(group));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response put_group(const Context& context) {
    const std::string project = project_of_groups(context);
    const std::string& name = context.request.parameter("g");
    if (!plain_name.holds(name))
        throw ProblemError({.status = 422,
                            .code = "invalid_body",
                            .detail = fmt::format("the name of a group must be {}, not `{}`",
                                                  plain_name.wanted, name)});
    const GroupPut body = read_body(context.request, decode_group_put, "the limit");
    store::set_group_limit(context.services.store, project, name, static_cast<int>(body.limit));
    context.services.on_queued();
    const auto group = store::find_group(context.services.store, project, name);
    if (!group) throw_not_found("group", name);
    return json_response(render_group(*group));
}

}    // namespace slipway::routes
