#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/projects.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

store::Project the_project(const Context& context) {
    const std::string& name = context.request.parameter("p");
    auto project =
        reaches(context, name) ? store::find_project(context.services.store, name) : std::nullopt;
    if (!project) throw_not_found("project", name);
    return *std::move(project);
}

// They divide the machine among projects: no project sets its own.
void require_shares(const Identity& who) {
    require_all_projects(who, "weights and quotas belong to the service", "set them");
}

Response changed(const Context& context, const std::optional<store::Project>& project) {
    if (!project) throw_not_found("project", context.request.parameter("p"));
    context.services.on_queued();
    return json_response(render(*project));
}

}    // namespace

Response create_project(const Context& context) {
    require_shares(context.who);
    const ProjectCreate body = read_body(context.request, decode_project_create, "the project");
    const store::Project project =
        store::create_project(context.services.store, body.name, body.weight, context.who.token_id,
                              context.services.limits.projects);
    return json_response(render(project), 201).with("Location", "/v1/projects/" + project.name);
}

Response list_projects(const Context& context) {
    const auto page = store::list_projects(context.services.store, context.who.projects(),
                                           query_page(context.request));
    Json items = Json::array();
    for (const store::Project& project : page.items)
        items.push_back(render(project));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_project(const Context& context) {
    return json_response(render(the_project(context)));
}

Response patch_project(const Context& context) {
    require_shares(context.who);
    const store::Project project = the_project(context);
    const ProjectPatch body = read_body(context.request, decode_project_patch, "the change");
    return changed(context, store::set_weight(context.services.store, project.name,
                                              body.weight.value_or(project.weight)));
}

Response get_project_quota(const Context& context) {
    return json_response(render(the_project(context))["quota"]);
}

Response put_project_quota(const Context& context) {
    require_shares(context.who);
    const store::Project project = the_project(context);
    const ProjectQuota body = read_body(context.request, decode_project_quota, "the quota");
    std::optional<int> cores;
    if (body.cores) cores = static_cast<int>(*body.cores);
    const auto after =
        store::set_quota(context.services.store, project.name, cores,
                         body.class_max ? to_string(*body.class_max) : std::string_view());
    changed(context, after);
    return json_response(render(*after)["quota"]);
}

}    // namespace slipway::routes
