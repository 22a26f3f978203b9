#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/spec/table/kinds.h"
#include "scheduler/store/members.h"
#include "scheduler/store/projects.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/guard.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/sse/hub.h"
#include "server/sse/project_hub.h"

namespace slipway::routes {
namespace {

std::string the_project_name(const Context& context) {
    const std::string& name = context.request.parameter("p");
    if (!reaches(context, name) || !store::find_project(context.services.store, name))
        throw_not_found("project", name);
    return name;
}

std::string the_member_name(const Context& context) {
    const std::string& name = context.request.parameter("m");
    if (!member_name.holds(name))
        throw ProblemError({.status = 422,
                            .code = "invalid_member",
                            .detail = fmt::format("the name of a member must be {}, not `{}`",
                                                  member_name.wanted, name)});
    return name;
}

store::MemberChange change_of(const Context& context) {
    const std::string project = the_project_name(context);
    return {.project = project,
            .member = the_member_name(context),
            .by = {.token_id = context.who.token_id, .project = project, .role = Role::admin},
            .may_take_last_admin = !context.who.is_bound(),
            .members_max = context.services.limits.members,
            .audit = audit_entry(context)};
}

// What somebody reads or sends while their role goes ends at once.
void recheck_rights(Services& services) {
    services.hub.recheck_owners();
    services.project_hub.recheck_owners();
    services.transfers->recheck();
}

}    // namespace

Response list_members(const Context& context) {
    const auto page = store::list_members(context.services.store, the_project_name(context),
                                          query_page(context.request));
    Json items = Json::array();
    for (const store::Membership& membership : page.items)
        items.push_back(render(membership));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_member(const Context& context) {
    const std::string project = the_project_name(context);
    const std::string name = the_member_name(context);
    const auto found = store::find_membership(context.services.store, project, name);
    if (!found) throw_not_found("member", name);
    return json_response(render(*found));
}

Response put_member(const Context& context) {
    const store::MemberChange change = change_of(context);
    const MemberPut body = read_body(context.request, decode_member_put, "the role");
    const store::Membership made = store::set_member(context.services.store, change, body.role);
    recheck_rights(context.services);
    Response response = json_response(render(made));
    response.audited = true;    // with the change
    return response;
}

Response delete_member(const Context& context) {
    const store::MemberChange change = change_of(context);
    if (!store::remove_member(context.services.store, change))
        throw_not_found("member", change.member);
    recheck_rights(context.services);
    Response response = no_content();
    response.audited = true;
    return response;
}

}    // namespace slipway::routes
