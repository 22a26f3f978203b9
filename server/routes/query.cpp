#include "server/routes/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "server/http/problem.h"
#include "server/routes/problems.h"

namespace slipway {
namespace {

constexpr double wait_max_s = 60;

std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        if (const std::string_view part = text.substr(0, comma); !part.empty())
            parts.emplace_back(part);
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return parts;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}    // namespace

void require_query(const Request& request, const Endpoint& endpoint) {
    QueryPairs pairs;
    for (const Pair& pair : request.query_pairs)
        pairs.emplace_back(pair.name, pair.value);
    throw_problems(check_query(endpoint, pairs), "invalid_query", "the query");
}

std::string query_text(const Request& request, std::string_view name) {
    return std::string(request.query(name).value_or(""));
}

std::int64_t query_number(const Request& request, std::string_view name, std::int64_t standard) {
    return parse_number(request.query(name).value_or("")).value_or(standard);
}

std::int64_t query_sequence(const Request& request) {
    return query_number(request, "cursor", query_number(request, "after", 0));
}

std::optional<Instant> query_time(const Request& request, std::string_view name) {
    const auto time = parse_rfc3339(request.query(name).value_or(""));
    return time ? std::optional(*time) : std::nullopt;
}

bool query_flag(const Request& request, std::string_view name) {
    return request.query(name) == "true";
}

std::vector<std::string> query_words(const Request& request, std::string_view name) {
    std::vector<std::string> words;
    for (std::string& word : split(request.query(name).value_or("")))
        if (std::ranges::find(words, word) == words.end()) words.push_back(std::move(word));
    return words;
}

std::map<std::string, std::string> query_pairs(const Request& request, std::string_view name) {
    std::map<std::string, std::string> pairs;
    for (const std::string& part : query_words(request, name)) {
        const std::size_t colon = part.find(':');
        if (colon != std::string::npos) pairs[part.substr(0, colon)] = part.substr(colon + 1);
    }
    return pairs;
}

store::PageRequest query_page(const Request& request) {
    return {.limit = static_cast<int>(query_number(request, "limit", 50)),
            .cursor = query_text(request, "cursor")};
}

std::optional<double> preferred_wait_s(const Request& request) {
    for (std::string part : split(request.header("prefer").value_or(""))) {
        std::erase(part, ' ');
        if (!part.starts_with("wait=")) continue;
        const auto seconds = parse_number(std::string_view(part).substr(5));
        if (!seconds || *seconds <= 0) return std::nullopt;
        return std::min(static_cast<double>(*seconds), wait_max_s);
    }
    return std::nullopt;
}

}    // namespace slipway
