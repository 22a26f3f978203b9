#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/log.h"
#include "api/base/sha256.h"
#include "scheduler/store/access.h"
#include "server/auth/cookie.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/sse/hub.h"

namespace slipway::routes {
namespace {

Response sign_in(const Context& context, const std::string& token_id, Response response) {
    const std::string secret = open_session(context.services.store, token_id);
    response.headers.push_back(
        {"Set-Cookie", set_session_cookie(context.request, secret, session_keep)});
    return response;
}

// A token that is bound to projects knows only tokens that are bound to some of them.
bool is_within(const Identity& who, const std::vector<std::string>& projects) {
    if (who.projects.empty()) return true;
    return !projects.empty() &&
           std::ranges::all_of(projects, [&](const auto& one) { return who.sees(one); });
}

void require_subset(const Identity& who, const std::vector<std::string>& projects) {
    if (is_within(who, projects)) return;
    throw_problems({{.pointer = "/projects",
                     .code = "not_allowed",
                     .message = "must name some of the projects of your own token",
                     .allowed = who.projects}},
                   "invalid_token", "the token");
}

// A token ends no later than the one that makes it, and with it when nothing is said.
std::optional<Instant> end_of(const Context& context, std::optional<Instant> asked) {
    const auto maker = store::find_token(context.services.store, context.who.token_id);
    if (!maker || !maker->expires_at) return asked;
    if (asked && *asked > *maker->expires_at)
        throw_problems(
            {{.pointer = "/expires_at",
              .code = "out_of_bounds",
              .message = fmt::format("must not be after {}, when your own token ends; leave it "
                                     "out to end with that",
                                     to_rfc3339(*maker->expires_at))}},
            "invalid_token", "the token");
    return asked ? asked : maker->expires_at;
}

// Where the browser goes; the name it used itself, which the framing guard has checked.
std::string address_of(const Request& request, std::string_view path) {
    return fmt::format("{}://{}{}", request.secure ? "https" : "http",
                       request.host.empty() ? "127.0.0.1" : request.host, path);
}

constexpr std::string_view used_link_page =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Slipway</title>"
    "<h1>This link no longer works</h1><p>It was used already or is too old. "
    "<code>slipwayd login-link</code> prints a new one.</p>"
    "<p><a href=\"/\">Sign in with a token</a></p></html>\n";

}    // namespace

Response get_me(const Context& context) {
    return json_response(render(context.who));
}

Response create_token(const Context& context) {
    const TokenCreate body = read_body(context.request, decode_token_create, "the token");
    require_subset(context.who, body.projects);
    store::Token token;
    token.name = body.name;
    token.role = to_string(body.role);
    token.projects = body.projects;
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
                                         context.who.projects);
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
    context.services.transfers->recheck();
    return no_content();
}

Response create_login_link(const Context& context) {
    const std::chrono::seconds link_keep{query_number(context.request, "keep_s", 600)};
    const std::string secret =
        make_login_ticket(context.services.store, context.who.token_id, link_keep);
    return json_response({{"url", address_of(context.request, "/login?ticket=" + secret)},
                          {"keep_s", link_keep.count()}},
                         201);
}

Response login(const Context& context) {
    const LoginRequest body = read_body(context.request, decode_login, "the login");
    const auto who = context.services.authenticator.identify_token(body.token);
    if (!who) {
        context.services.authenticator.note_failed_login(context.request, body.token);
        throw ProblemError({.status = 401,
                            .code = "unauthenticated",
                            .detail = "this token is unknown, expired or revoked"});
    }
    Identity signed_in = *who;
    signed_in.by_cookie = true;
    return sign_in(context, who->token_id, json_response(render(signed_in)));
}

Response login_by_link(const Context& context) {
    // Programs that look at links before people do ask with HEAD: that must not use it up.
    if (context.request.method == Method::HEAD) return no_content();
    const std::string ticket = query_text(context.request, "ticket");
    const auto token = redeem_login_ticket(context.services.store, ticket);
    if (!token) {
        if (!ticket.empty()) context.services.authenticator.note_failed_link(context.request);
        Response refused = text_response(std::string(used_link_page), "text/html; charset=utf-8");
        refused.status = 401;
        return refused;
    }
    Response onward = no_content();
    onward.status = 303;
    onward.headers.push_back({"Location", "/"});
    return sign_in(context, token->id, std::move(onward));
}

Response logout(const Context& context) {
    if (const auto secret = session_cookie(context.request)) {
        require_same_origin(context.request);
        store::end_session(context.services.store, sha256_hex(*secret));
    }
    return no_content().with("Set-Cookie", clear_session_cookie(context.request));
}

}    // namespace slipway::routes
