#include "server/http/router.h"

#include <algorithm>

#include "api/base/check.h"

namespace slipway {

namespace {

bool is_parameter(const std::string& part) {
    return part.starts_with('{');
}

std::vector<std::string> parts_of(std::string_view pattern) {
    check(pattern.starts_with('/'), "a route's pattern starts with /");
    pattern.remove_prefix(1);
    std::vector<std::string> parts;
    while (!pattern.empty()) {
        const auto slash = std::min(pattern.find('/'), pattern.size());
        parts.emplace_back(pattern.substr(0, slash));
        check(!parts.back().empty(), "no part of a route's pattern is empty");
        check(is_parameter(parts.back()) == parts.back().ends_with('}'),
              "a route's parameter is a whole part");
        pattern.remove_prefix(std::min(slash + 1, pattern.size()));
    }
    return parts;
}

/// For two patterns of one length: the one with a literal where the other has a parameter, first.
bool more_literal(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                        [](const std::string& x, const std::string& y) {
                                            return is_parameter(x) < is_parameter(y);
                                        });
}

bool matches(const std::vector<std::string>& parts, std::span<const std::string> segments) {
    return std::equal(parts.begin(), parts.end(), segments.begin(), segments.end(),
                      [](const std::string& part, const std::string& segment) {
                          return is_parameter(part) ? !segment.empty() : part == segment;
                      });
}

bool same_requests(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const std::string& x, const std::string& y) {
                          return x == y || (is_parameter(x) && is_parameter(y));
                      });
}

void add_once(std::vector<Method>& methods, Method method) {
    if (std::find(methods.begin(), methods.end(), method) == methods.end())
        methods.push_back(method);
}

}    // namespace

Route get_route(std::string pattern, Handler handler) {
    return {.method = Method::GET, .pattern = std::move(pattern), .handler = std::move(handler)};
}

Route json_route(Method method, std::string pattern, Handler handler) {
    return {.method = method,
            .pattern = std::move(pattern),
            .handler = std::move(handler),
            .body_bytes_max = json_body_bytes_max,
            .media_types = {"application/json"}};
}

Router::Router(std::vector<Route> routes) : routes_(std::move(routes)) {
    for (std::size_t i = 0; i < routes_.size(); ++i) {
        const Method method = routes_[i].method;
        check(method != Method::HEAD && method != Method::OPTIONS,
              "HEAD and OPTIONS are answered from the other rows");
        rows_.push_back({parts_of(routes_[i].pattern), i});
        for (std::size_t k = 0; k < i; ++k)
            check(routes_[k].method != method || !same_requests(rows_[k].parts, rows_[i].parts),
                  "no two routes match the same requests");
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [](const Row& a, const Row& b) { return more_literal(a.parts, b.parts); });
}

RouteMatch Router::match(Method method, std::span<const std::string> segments) const {
    const Method wanted = method == Method::HEAD ? Method::GET : method;
    RouteMatch match;
    for (const Row& row : rows_) {
        if (!matches(row.parts, segments)) continue;
        const Route& route = routes_[row.route];
        if (route.method != wanted) {
            add_once(match.allowed, route.method);
            continue;
        }
        match.route = &route;
        for (std::size_t i = 0; i < row.parts.size(); ++i)
            if (is_parameter(row.parts[i]))
                match.parameters.push_back(
                    {row.parts[i].substr(1, row.parts[i].size() - 2), segments[i]});
        return match;
    }
    if (!match.allowed.empty()) {
        if (std::find(match.allowed.begin(), match.allowed.end(), Method::GET) !=
            match.allowed.end())
            add_once(match.allowed, Method::HEAD);
        add_once(match.allowed, Method::OPTIONS);
    }
    return match;
}

}    // namespace slipway
