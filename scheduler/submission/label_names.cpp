#include "scheduler/submission/label_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "scheduler/store/stored_json.h"

namespace slipway::submission {

namespace {

constexpr std::size_t shown_names_max = 20;

/// The names under a member of a dataset's report; none when they are not there or not all listed.
std::optional<std::vector<std::string>> names_in(const store::Dataset& dataset, const char* member,
                                                 const char* count) {
    const Json report = store::stored_json(dataset.report);
    if (!report.is_object()) return std::nullopt;
    const auto list = report.find(member);
    if (list == report.end() || !list->is_array() || list->empty()) return std::nullopt;
    if (list->size() < report.value(count, std::size_t{0})) return std::nullopt;
    std::vector<std::string> names;
    for (const Json& one : *list)
        if (one.is_object()) names.push_back(one.value("name", ""));
    return names;
}

}    // namespace

std::optional<std::vector<std::string>> class_names(const store::Dataset& dataset) {
    return names_in(dataset, "classes", "class_count");
}

std::optional<std::vector<std::string>> number_names(const store::Dataset& dataset) {
    return names_in(dataset, "labels", "");
}

std::optional<std::vector<std::string>> label_names(const store::Dataset& dataset) {
    auto names = class_names(dataset);
    return names ? names : number_names(dataset);
}

std::string shown_names(const std::vector<std::string>& names) {
    const std::size_t count = std::min(names.size(), shown_names_max);
    return fmt::format("{}{}",
                       fmt::join(names.begin(), names.begin() + std::ptrdiff_t(count), ", "),
                       count < names.size() ? ", …" : "");
}

}    // namespace slipway::submission
