#include "server/auth/cookie.h"

#include <fmt/format.h>

#include "api/base/letter_case.h"
#include "server/auth/token.h"
#include "server/http/problem.h"
#include "server/http/text.h"

namespace slipway {
namespace {

std::string_view cookie_name(const Request& request) {
    return request.secure ? "__Host-slipway" : "slipway";
}

std::string cookie(const Request& request, std::string_view name, std::string_view value,
                   std::chrono::seconds keep) {
    return fmt::format("{}={}; Path=/; Max-Age={}; SameSite=Lax{}", name, value, keep.count(),
                       request.secure ? "; Secure" : "");
}

std::string signed_in_cookie(const Request& request, std::string_view value,
                             std::chrono::seconds keep) {
    return cookie(request, fmt::format("{}-signed-in", cookie_name(request)), value, keep);
}

// As a browser writes it: in lower case, without the scheme's own port.
std::string own_origin(const Request& request) {
    const std::string_view scheme = request.secure ? "https" : "http";
    const std::string_view default_port = request.secure ? ":443" : ":80";
    std::string host = lower_case(request.host);
    if (host.ends_with(default_port)) host.resize(host.size() - default_port.size());
    return fmt::format("{}://{}", scheme, host);
}

[[noreturn]] void refuse_cross_site() {
    throw ProblemError(
        {.status = 403,
         .code = "cross_site",
         .detail = "a session cookie is accepted only in requests of the dashboard's own pages; "
                   "programs send Authorization: Bearer slp_…"});
}

}    // namespace

std::optional<std::string> session_cookie(const Request& request) {
    for (const Pair& header : request.headers) {
        if (header.name != "cookie") continue;
        std::string_view rest = header.value;
        while (!rest.empty()) {
            const std::size_t end = rest.find(';');
            const std::string_view one = trimmed(rest.substr(0, end));
            rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
            const std::size_t equals = one.find('=');
            if (equals == std::string_view::npos || one.substr(0, equals) != cookie_name(request))
                continue;
            if (is_secret(one.substr(equals + 1))) return std::string(one.substr(equals + 1));
        }
    }
    return std::nullopt;
}

std::string set_session_cookie(const Request& request, std::string_view secret,
                               std::chrono::seconds keep) {
    return cookie(request, cookie_name(request), secret, keep) + "; HttpOnly";
}

std::string clear_session_cookie(const Request& request) {
    return set_session_cookie(request, "", std::chrono::seconds{0});
}

std::string set_signed_in_cookie(const Request& request, std::chrono::seconds keep) {
    return signed_in_cookie(request, "1", keep);
}

std::string clear_signed_in_cookie(const Request& request) {
    return signed_in_cookie(request, "", std::chrono::seconds{0});
}

void require_same_origin(const Request& request) {
    if (request.method == Method::GET || request.method == Method::HEAD) return;
    if (const auto site = request.header("sec-fetch-site")) {
        if (*site != "same-origin") refuse_cross_site();
        return;
    }
    const auto origin = request.header("origin");
    if (!origin || request.host.empty() || *origin != own_origin(request)) refuse_cross_site();
}

}    // namespace slipway
