#include "server/http/message.h"

#include <algorithm>
#include <array>

#include "api/base/check.h"
#include "api/base/letter_case.h"
#include "server/http/text.h"

namespace slipway {

namespace {

constexpr std::array<std::string_view, 7> method_names{"GET",   "HEAD",   "POST",   "PUT",
                                                       "PATCH", "DELETE", "OPTIONS"};

std::optional<std::string_view> first_named(const std::vector<Pair>& pairs, std::string_view name) {
    const auto found = std::find_if(pairs.begin(), pairs.end(),
                                    [name](const Pair& pair) { return pair.name == name; });
    if (found == pairs.end()) return std::nullopt;
    return found->value;
}

}    // namespace

std::string_view to_string(Method method) noexcept {
    return method_names[static_cast<std::size_t>(method)];
}

std::optional<Method> parse_method(std::string_view text) noexcept {
    const auto found = std::find(method_names.begin(), method_names.end(), text);
    if (found == method_names.end()) return std::nullopt;
    return static_cast<Method>(found - method_names.begin());
}

std::vector<Method> all_methods() {
    std::vector<Method> methods;
    for (std::size_t i = 0; i < method_names.size(); ++i)
        methods.push_back(static_cast<Method>(i));
    return methods;
}

std::optional<std::string_view> Request::header(std::string_view lower_name) const {
    return first_named(headers, lower_name);
}

std::optional<std::string_view> Request::query(std::string_view name) const {
    return first_named(query_pairs, name);
}

const std::string& Request::parameter(std::string_view name) const {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [name](const Pair& pair) { return pair.name == name; });
    check(found != parameters.end(), "the route's pattern has the parameter asked for");
    return found->value;
}

Response&& Response::with(std::string name, std::string value) && {
    headers.push_back({std::move(name), std::move(value)});
    return std::move(*this);
}

std::optional<std::string_view> Response::header(std::string_view name) const {
    for (const Pair& pair : headers)
        if (equal_ignoring_case(pair.name, name)) return pair.value;
    return std::nullopt;
}

}    // namespace slipway
