#include "server/http/find_route.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/base/letter_case.h"
#include "server/http/text.h"

namespace slipway {

namespace {

std::string allow_list(const std::vector<Method>& methods) {
    std::string list;
    for (const Method method : methods)
        list += (list.empty() ? "" : ", ") + std::string(to_string(method));
    return list;
}

/// True for "application/json" and "application/json; charset=utf-8".
bool is_media_type(std::string_view header, std::string_view wanted) {
    const auto semicolon = std::min(header.find(';'), header.size());
    if (!equal_ignoring_case(trimmed(header.substr(0, semicolon)), wanted)) return false;
    const std::string parameters = lower_case(header.substr(semicolon));
    const auto charset = parameters.find("charset=");
    if (charset == std::string::npos) return true;
    const std::string_view value = trimmed(std::string_view(parameters).substr(charset + 8));
    return value.starts_with("utf-8") || value.starts_with("\"utf-8\"");
}

}    // namespace

std::optional<Response> find_route(const ServerCore& core, Exchange& exchange) {
    Request& request = exchange.request;
    if (request.path == "*")
        return Response{.status = 204}.with("Allow", allow_list(all_methods()));
    RouteMatch match = core.router.match(request.method, request.segments);
    if (match.route != nullptr) {
        exchange.route = match.route;
        request.route = match.route->pattern;
        request.parameters = std::move(match.parameters);
        return std::nullopt;
    }
    if (match.allowed.empty())
        return problem_response({.status = 404,
                                 .code = "no_such_path",
                                 .detail = "there is nothing at " + request.path},
                                request.request_id);
    const std::string allow = allow_list(match.allowed);
    if (request.method == Method::OPTIONS) return Response{.status = 204}.with("Allow", allow);
    return problem_response({.status = 405,
                             .code = "method_not_allowed",
                             .detail = fmt::format("{} takes {}", request.path, allow),
                             .headers = {{"Allow", allow}}},
                            request.request_id);
}

std::optional<ProblemError::Fields> body_problem(const Exchange& exchange) {
    const Route& route = *exchange.route;
    const Request& request = exchange.request;
    if (!exchange.head.has_body()) return std::nullopt;
    if (route.body_bytes_max == 0 && !route.receive)
        return ProblemError::Fields{
            .status = 400, .code = "body_not_allowed", .detail = "this request takes no body"};
    const auto encoding = request.header("content-encoding");
    if (encoding && !equal_ignoring_case(*encoding, "identity"))
        return ProblemError::Fields{.status = 415,
                                    .code = "unsupported_content_encoding",
                                    .detail = "send the body without Content-Encoding"};
    const std::string_view type = request.header("content-type").value_or("");
    const auto& allowed = route.media_types;
    if (allowed.empty() || std::any_of(allowed.begin(), allowed.end(), [&](const auto& wanted) {
            return is_media_type(type, wanted);
        }))
        return std::nullopt;
    return ProblemError::Fields{
        .status = 415,
        .code = "unsupported_media_type",
        .detail = fmt::format("Content-Type must be {}", fmt::join(allowed, " or ")),
        .headers = {{"Accept", fmt::format("{}", fmt::join(allowed, ", "))}}};
}

}    // namespace slipway
