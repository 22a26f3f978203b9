// The events of the parser are turned into JSON as they come. A tree of the library's nodes would
// be built first and judged later, and an alias in it is a reference, so that a few lines stand for
// billions of values once somebody walks through them. Here an alias is a copy, and its values
// count.

#include "api/sweep_import/yaml_json.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "api/base/printable.h"

namespace slipway {

namespace {

[[noreturn]] void refuse_yaml(const YAML::Mark& mark, const std::string& why) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("line {}, column {}: {}", mark.line + 1, mark.column + 1, why));
}

constexpr auto true_words = std::to_array<std::string_view>(
    {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"});
constexpr auto false_words = std::to_array<std::string_view>(
    {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"});
constexpr auto null_words = std::to_array<std::string_view>({"", "~", "null", "Null", "NULL"});
constexpr auto infinite_words = std::to_array<std::string_view>(
    {".inf", ".Inf", ".INF", "+.inf", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN"});

bool is_one_of(std::string_view word, const auto& words) {
    return std::ranges::find(words, word) != words.end();
}

/// A whole number without leading zeros, or a decimal one.
std::optional<Json> number_of_word(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    const std::string_view digits = word.starts_with('-') ? word.substr(1) : word;
    if (digits.empty() ||
        !(std::isdigit(static_cast<unsigned char>(digits[0])) != 0 || digits[0] == '.'))
        return std::nullopt;
    const char* end = word.data() + word.size();
    std::int64_t whole = 0;
    const auto as_whole = std::from_chars(word.data(), end, whole);
    if (as_whole.ec == std::errc{} && as_whole.ptr == end) {
        if (digits.size() > 1 && digits[0] == '0') return std::nullopt;    // octal to some
        return whole;
    }
    double real = 0;
    const auto as_real = std::from_chars(word.data(), end, real);
    if (as_real.ptr != end) return std::nullopt;
    return as_real.ec == std::errc{} ? real : std::numeric_limits<double>::infinity();
}

Json value_of_word(const YAML::Mark& mark, const std::string& word) {
    if (is_one_of(word, null_words)) return nullptr;
    if (is_one_of(word, true_words)) return true;
    if (is_one_of(word, false_words)) return false;
    if (is_one_of(word, infinite_words)) refuse_yaml(mark, word + " is not finite");
    std::optional<Json> number = number_of_word(word);
    if (!number) return word;
    if (number->is_number_float() && !std::isfinite(number->get<double>()))
        refuse_yaml(mark, shortened(word) + " is too large");
    return *number;
}

std::size_t count_of_nodes(const Json& value) {
    std::size_t count = 1;
    if (value.is_structured())
        for (const Json& inner : value)
            count += count_of_nodes(inner);
    return count;
}

std::size_t depth_of(const Json& value) {
    std::size_t depth = 0;
    if (value.is_structured())
        for (const Json& inner : value)
            depth = std::max(depth, depth_of(inner));
    return depth + 1;
}

class JsonBuilder final : public YAML::EventHandler {
public:
    explicit JsonBuilder(const YamlLimits& limits) : limits_(limits) {}

    std::optional<Json> document;

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (document) refuse_yaml(mark, "a second document begins; one is allowed");
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        put(mark, anchor, nullptr, 1);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) refuse_yaml(mark, "an alias of something that has no end yet");
        judge_depth(mark, depth_of(found->second));
        put(mark, 0, found->second, count_of_nodes(found->second));
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        // "?" is a plain word, "!" a quoted one.
        if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark, tag);
        const bool is_key = !open_.empty() && open_.back().value.is_object() && !open_.back().key;
        if (is_key) return take_key(mark, value);
        put(mark, anchor, tag == "!" ? Json(value) : value_of_word(mark, value), 1);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, Json::array());
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, anchor, Json::object());
    }
    void OnMapEnd() override { end(); }

private:
    struct Open {
        Json value;
        YAML::anchor_t anchor = 0;
        YAML::Mark mark;
        std::optional<std::string> key;    // of a map, between a key and its value
    };

    [[noreturn]] static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
        refuse_yaml(mark, "the tag " + shortened(tag) + " is not allowed");
    }

    void judge_depth(const YAML::Mark& mark, std::size_t more) const {
        if (open_.size() + more > limits_.depth_max)
            refuse_yaml(mark, fmt::format("more than {} levels", limits_.depth_max));
    }

    void count(const YAML::Mark& mark, std::size_t nodes) {
        nodes_ += nodes;
        if (nodes_ > limits_.nodes_max)
            refuse_yaml(
                mark, fmt::format("more than {} values, with those of aliases", limits_.nodes_max));
    }

    void take_key(const YAML::Mark& mark, const std::string& key) {
        count(mark, 1);
        if (key == "<<") refuse_yaml(mark, "merge keys (<<) are not read; write the values out");
        if (open_.back().value.contains(key))
            refuse_yaml(mark, fmt::format("the key {} stands twice", shortened(key)));
        open_.back().key = key;
    }

    void begin(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, Json empty) {
        if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark, tag);
        judge_depth(mark, 1);
        count(mark, 1);
        if (!open_.empty() && open_.back().value.is_object() && !open_.back().key)
            refuse_yaml(mark, "a key must be text");
        open_.push_back({.value = std::move(empty), .anchor = anchor, .mark = mark, .key = {}});
    }

    void end() {
        Open ended = std::move(open_.back());
        open_.pop_back();
        put(ended.mark, ended.anchor, std::move(ended.value), 0);
    }

    void put(const YAML::Mark& mark, YAML::anchor_t anchor, Json value, std::size_t nodes) {
        count(mark, nodes);
        if (anchor != 0) anchors_[anchor] = value;
        if (open_.empty()) {
            document = std::move(value);
        } else if (open_.back().value.is_array()) {
            open_.back().value.push_back(std::move(value));
        } else if (open_.back().key) {
            open_.back().value[*open_.back().key] = std::move(value);
            open_.back().key.reset();
        } else {
            refuse_yaml(mark, "a key must be text");
        }
    }

    YamlLimits limits_;
    std::size_t nodes_ = 0;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Json> anchors_;
};

}    // namespace

Result<Json> json_of_yaml(std::string_view text, const YamlLimits& limits) {
    if (text.size() > limits.bytes_max)
        return Error(ErrorCode::invalid_argument,
                     fmt::format("{} bytes; at most {} are read", text.size(), limits.bytes_max));
    JsonBuilder builder(limits);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const Error& error) {
        return error;
    } catch (const YAML::Exception& error) {
        return Error(ErrorCode::invalid_argument,
                     fmt::format("no YAML: line {}, column {}: {}", error.mark.line + 1,
                                 error.mark.column + 1, error.msg));
    }
    if (!builder.document) return Error(ErrorCode::invalid_argument, "the file is empty");
    return *std::move(builder.document);
}

}    // namespace slipway
