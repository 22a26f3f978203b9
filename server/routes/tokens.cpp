#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/access.h"
#include "scheduler/store/members.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/sse/hub.h"
#include "server/sse/project_hub.h"

namespace slipway::routes {
namespace {

// Who is an admin of some projects knows only tokens that are bound to some of them.
bool is_within(const Identity& who, const std::vector<std::string>& projects) {
    if (!who.is_bound()) return true;
    return !projects.empty() && std::ranges::all_of(projects, [&](const auto& one) {
        return who.may(Access::admin, one);
    });
}

void require_subset(const Identity& who, const std::vector<std::string>& projects) {
    if (is_within(who, projects)) return;
    throw_problems({{.pointer = "/projects",
                     .code = "not_allowed",
                     .message = "must name projects of which you are an admin",
                     .allowed = who.projects(Access::admin)}},
                   "invalid_token", "the token");
}

// Nobody gets rights by naming a member: what is made is bound to projects of which its maker is an
// admin, or made by an admin of all of them.
void require_member(const Context& context, const TokenCreate& body) {
    if (body.member.empty() ||
        store::has_member(context.services.store, body.member, body.projects))
        return;
    throw_problems(
        {{.pointer = "/member",
          .code = "not_found",
          .message = fmt::format("there is no member {}{}; add them first: PUT "
                                 "/v1/projects/PROJECT/members/{}",
                                 body.member, body.projects.empty() ? "" : " of these projects",
                                 body.member),
          .allowed = {}}},
        "invalid_token", "the token");
}

// A token ends no later than the one that makes it, and with it when nothing is said.
std::optional<Instant> end_of(const Context& context, std::optional<Instant> asked) {
    const auto maker = store::find_token(context.services.store, context.who.token_id);
    if (!maker || !maker->expires_at) return asked;
    if (asked && *asked > *maker->expires_at)
        throw_problems({{.pointer = "/expires_at",
                         .code = "out_of_bounds",
                         .message = fmt::format("must not be after {}, when your own token "
                                                "expires; leave it out to expire at the same time",
                                                to_rfc3339(*maker->expires_at))}},
                       "invalid_token", "the token");
    return asked ? asked : maker->expires_at;
}

}    // namespace

Response get_me(const Context& context) {
    return json_response(render(context.who));
}

Response create_token(const Context& context) {
    const TokenCreate body = read_body(context.request, decode_token_create, "the token");
    require_subset(context.who, body.projects);
    require_member(context, body);
    store::Token token;
    token.name = body.name;
    token.role = to_string(body.role);
    token.projects = body.projects;
    token.member = body.member.empty() ? context.who.member : body.member;
    token.created_by = context.who.token_id;
    token.expires_at = end_of(context, body.expires_at);
    const IssuedToken issued =
        issue_token(context.services.store, std::move(token), context.services.limits.tokens);
    Json out = render(issued.token);
    out["token"] = issued.text;
    return json_response(out, 201).with("Location", "/v1/tokens/" + issued.token.id);
}

Response list_tokens(const Context& context) {
    const auto page = store::list_tokens(context.services.store, query_page(context.request),
                                         context.who.projects(Access::admin));
    Json items = Json::array();
    for (const store::Token& token : page.items)
        items.push_back(render(token));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response revoke_token(const Context& context) {
    const std::string& id = context.request.parameter("id");
    const auto token =
        is_id("tok", id) ? store::find_token(context.services.store, id) : std::nullopt;
    if (!token || !is_within(context.who, token->projects)) throw_not_found("token", id);
    const bool keep_made = query_flag(context.request, "keep_made");
    const std::int64_t ended = store::revoke_token(context.services.store, id, keep_made);
    if (ended == 0) throw_not_found("token", id);
    log_info("tokens revoked", {{"token_id", id},
                                {"by", context.who.token_id},
                                {"with_those_made", ended - 1},
                                {"request_id", context.request.request_id}});
    // Their streams and transfers end at once.
    context.services.hub.recheck_owners();
    context.services.project_hub.recheck_owners();
    context.services.transfers->recheck();
    return no_content();
}

}    // namespace slipway::routes
