#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/sha256.h"
#include "scheduler/store/access.h"
#include "server/auth/cookie.h"
#include "server/auth/token.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/query.h"
#include "server/routes/render.h"

namespace slipway::routes {
namespace {

Response sign_in(const Context& context, const std::string& token_id, Response response) {
    const std::string secret = open_session(context.services.store, token_id);
    response.headers.push_back(
        {"Set-Cookie", set_session_cookie(context.request, secret, session_keep)});
    response.headers.push_back({"Set-Cookie", set_signed_in_cookie(context.request, session_keep)});
    return response;
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

// A page of another site has led the browser here. It could sign the browser in as another user,
// and that user would own what is entered then. A request without the header comes from an old
// browser or a program and is accepted.
bool comes_from_elsewhere(const Request& request) {
    const auto site = request.header("sec-fetch-site");
    return site && *site != "none" && *site != "same-origin";
}

// Following its link is a step of this site, which no other one can take.
Response confirmation_page(const std::string& ticket) {
    return text_response(
        fmt::format(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Slipway</title>"
            "<h1>Sign this browser in?</h1><p>Another page has led here. Go on only if "
            "you asked for this link: it may sign you in as somebody else.</p>"
            "<p><a href=\"/login?ticket={}\">Sign in</a></p></html>\n",
            ticket),
        "text/html; charset=utf-8");
}

}    // namespace

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
    if (is_secret(ticket) && comes_from_elsewhere(context.request))
        return confirmation_page(ticket);
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
    return no_content()
        .with("Set-Cookie", clear_session_cookie(context.request))
        .with("Set-Cookie", clear_signed_in_cookie(context.request));
}

}    // namespace slipway::routes
