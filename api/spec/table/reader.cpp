#include "api/spec/table/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace slipway {

namespace {

/// The pointer's tokens, unescaped.
std::vector<std::string> tokens_of(std::string_view pointer) {
    std::vector<std::string> tokens;
    for (std::size_t at = 0; at < pointer.size(); ++at) {
        if (pointer[at] == '/') {
            tokens.emplace_back();
        } else if (pointer[at] == '~' && at + 1 < pointer.size() && !tokens.empty()) {
            tokens.back() += pointer[++at] == '1' ? '/' : '~';
        } else if (!tokens.empty()) {
            tokens.back() += pointer[at];
        }
    }
    return tokens;
}

std::optional<std::size_t> as_number(std::string_view token) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(token.begin(), token.end(), number);
    if (error != std::errc{} || end != token.end()) return std::nullopt;
    return number;
}

bool token_before(const std::string& one, const std::string& other) {
    const auto first = as_number(one);
    const auto second = as_number(other);
    return first && second ? *first < *second : one < other;
}

}    // namespace

void sort_problems(std::vector<Problem>& problems) {
    std::stable_sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
        const std::vector<std::string> one = tokens_of(a.pointer);
        const std::vector<std::string> other = tokens_of(b.pointer);
        return std::lexicographical_compare(one.begin(), one.end(), other.begin(), other.end(),
                                            token_before);
    });
}

std::string dotted_path(std::string_view pointer) {
    std::string path;
    for (const std::string& token : tokens_of(pointer)) {
        if (as_number(token)) {
            path += fmt::format("[{}]", token);
        } else {
            path += (path.empty() ? "" : ".") + shortened(token);
        }
    }
    return path.empty() ? "the document" : path;
}

Reader Reader::at(std::string_view key) const {
    Reader inner = *this;
    inner.pointer_ = json_pointer(pointer_, key);
    return inner;
}

Reader Reader::at(std::size_t index) const {
    Reader inner = *this;
    inner.pointer_ = json_pointer(pointer_, index);
    return inner;
}

std::string Reader::path() const {
    return dotted_path(pointer_);
}

void Reader::report(std::string code, std::string message, std::vector<std::string> allowed) const {
    if (full()) return;
    problems_.push_back({pointer_, std::move(code), std::move(message), std::move(allowed)});
}

void Reader::refuse(std::string code, std::string_view wanted, const Json& got,
                    std::vector<std::string> allowed) const {
    report(std::move(code), fmt::format("{} must be {}, got {}", path(), wanted, shown(got)),
           std::move(allowed));
}

std::string shortened(std::string_view text, std::size_t characters_max) {
    std::string result;
    std::size_t characters = 0;
    for (const char c : text) {
        const bool starts_character = (c & 0xC0) != 0x80;
        if (starts_character && characters++ == characters_max) return result + "…";
        const bool is_control = (c >= 0 && c < 0x20) || c == 0x7f;
        result += is_control ? '?' : c;
    }
    return result;
}

std::string shown(const Json& value) {
    switch (value.type()) {
        case Json::value_t::object:
            return "an object";
        case Json::value_t::array:
            return value.empty() ? "an empty array" : "an array";
        case Json::value_t::null:
            return "null (leave the field out instead)";
        case Json::value_t::string:
            return fmt::format("\"{}\"", shortened(value.get_ref<const std::string&>()));
        case Json::value_t::number_float:
            if (!std::isfinite(value.get<double>())) return "a number too large to represent";
            return value.dump();
        default:
            return value.dump();
    }
}

}    // namespace slipway
