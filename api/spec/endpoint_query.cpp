#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/spec/endpoints.h"
#include "api/spec/table/kinds.h"

namespace slipway {

namespace {

std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(',', start), text.size());
        parts.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

Problem refused(const QueryParameter& parameter, std::string code, std::string_view wanted,
                std::string_view got) {
    return {fmt::format("?{}", parameter.name), std::move(code),
            fmt::format("the query parameter {} must be {}, got \"{}\"", parameter.name, wanted,
                        shortened(got)),
            as_strings(parameter.allowed)};
}

std::optional<Problem> check_integer(const QueryParameter& parameter, std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    const bool whole = error == std::errc{} && end == text.end();
    if (whole && value >= parameter.min && value <= parameter.max) return std::nullopt;
    const std::string wanted =
        Integer{.min = parameter.min,
                .max = parameter.max == INT64_MAX ? Integer{}.max : parameter.max}
            .wanted();
    return refused(parameter, whole ? "out_of_bounds" : "wrong_type", wanted, text);
}

std::optional<Problem> check_count(const QueryParameter& parameter, std::size_t count) {
    if (count <= query_items_max) return std::nullopt;
    return Problem{
        fmt::format("?{}", parameter.name),
        "out_of_bounds",
        fmt::format("the query parameter {} takes up to {} items with commas between, got {}",
                    parameter.name, query_items_max, count),
        {}};
}

std::optional<Problem> check_words(const QueryParameter& parameter, std::string_view text) {
    const std::vector<std::string_view> words = parts_of(text);
    if (auto problem = check_count(parameter, words.size())) return problem;
    for (const std::string_view word : words) {
        if (word.empty())
            return refused(parameter, "bad_format", "words separated by commas", text);
        if (parameter.allowed.empty() || is_one_of(word, parameter.allowed)) continue;
        return refused(parameter, "not_allowed", joined_with_or(parameter.allowed), word);
    }
    return std::nullopt;
}

std::optional<Problem> check_pairs(const QueryParameter& parameter, std::string_view text) {
    const std::vector<std::string_view> pairs = parts_of(text);
    if (auto problem = check_count(parameter, pairs.size())) return problem;
    for (const std::string_view pair : pairs) {
        const std::size_t colon = pair.find(':');
        if (colon != pair.npos && colon > 0) continue;
        return refused(parameter, "bad_format", "pairs such as team:ct,stage:2", text);
    }
    return std::nullopt;
}

std::optional<Problem> check_value(const QueryParameter& parameter, std::string_view text) {
    switch (parameter.type) {
        case QueryType::text:
            if (!text.empty()) return std::nullopt;
            return refused(parameter, "bad_format", "a non-empty string", text);
        case QueryType::integer:
            return check_integer(parameter, text);
        case QueryType::flag:
            if (text == "true" || text == "false") return std::nullopt;
            return refused(parameter, "wrong_type", "true or false", text);
        case QueryType::word:
            if (is_one_of(text, parameter.allowed)) return std::nullopt;
            return refused(parameter, "not_allowed", joined_with_or(parameter.allowed), text);
        case QueryType::words:
            return check_words(parameter, text);
        case QueryType::pairs:
            return check_pairs(parameter, text);
        case QueryType::time:
            if (parse_rfc3339(text)) return std::nullopt;
            return refused(parameter, "bad_format", Time{}.wanted(), text);
    }
    return std::nullopt;
}

Problem unknown(const Endpoint& endpoint, std::string_view name) {
    std::vector<std::string_view> names;
    for (const QueryParameter& parameter : endpoint.query)
        names.push_back(parameter.name);
    std::string hint = names.empty() ? "it takes none" : "it takes " + joined_with_or(names);
    if (const auto meant = nearest(name, names)) hint = fmt::format("did you mean {}?", *meant);
    return {fmt::format("?{}", shortened(name)), "unknown_field",
            fmt::format("{} {} has no query parameter {}; {}", endpoint.method, endpoint.path,
                        shortened(name), hint),
            as_strings(names)};
}

}    // namespace

std::vector<Problem> check_query(const Endpoint& endpoint, const QueryPairs& query) {
    std::vector<Problem> problems;
    for (auto pair = query.begin(); pair != query.end(); ++pair) {
        if (problems.size() >= Reader::problems_max) break;
        const auto& name = pair->first;
        const auto parameter =
            std::find_if(endpoint.query.begin(), endpoint.query.end(),
                         [&](const QueryParameter& row) { return row.name == name; });
        if (parameter == endpoint.query.end()) {
            problems.push_back(unknown(endpoint, name));
        } else if (std::any_of(query.begin(), pair,
                               [&](const auto& before) { return before.first == name; })) {
            problems.push_back(
                {fmt::format("?{}", name), "duplicate_key",
                 fmt::format("the query parameter {} is given more than once", name)});
        } else if (auto problem = check_value(*parameter, pair->second)) {
            problems.push_back(std::move(*problem));
        }
    }
    return problems;
}

}    // namespace slipway
