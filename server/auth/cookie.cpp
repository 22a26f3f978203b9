#include "server/auth/cookie.h"

#include <fmt/format.h>

#include "server/auth/token.h"
#include "server/http/problem.h"

namespace slipway {
namespace {

std::string_view cookie_name(const Request& request) {
    return request.secure ? "__Host-slipway" : "slipway";
}

std::string cookie(const Request& request, std::string_view value, std::chrono::seconds keep) {
    return fmt::format("{}={}; Path=/; Max-Age={}; HttpOnly; SameSite=Lax{}", cookie_name(request),
                       value, keep.count(), request.secure ? "; Secure" : "");
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

[[noreturn]] void refuse_cross_site() {
    throw ProblemError({.status = 403,
                        .code = "cross_site",
                        .detail =
                            "a browser's cookie counts only for requests that our own pages make; "
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
    return cookie(request, secret, keep);
}

std::string clear_session_cookie(const Request& request) {
    return cookie(request, "", std::chrono::seconds{0});
}

void require_same_origin(const Request& request) {
    if (request.method == Method::GET || request.method == Method::HEAD) return;
    if (const auto site = request.header("sec-fetch-site")) {
        if (*site != "same-origin") refuse_cross_site();
        return;
    }
    const auto origin = request.header("origin");
    const auto host = request.header("host");
    if (!origin || !host) refuse_cross_site();
    const std::size_t scheme_end = origin->find("://");
    if (scheme_end == std::string_view::npos || origin->substr(scheme_end + 3) != *host)
        refuse_cross_site();
}

}    // namespace slipway
