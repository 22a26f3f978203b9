#include "scheduler/submission/split_fit_check.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "scheduler/store/stored_json.h"
#include "scheduler/submission/dataset_facts.h"

namespace slipway::submission {

namespace {

bool by_group(const SplitCreate& split) {
    using enum SplitMethod;
    return split.method == group_kfold || split.method == stratified_group_kfold ||
           !split.group_by.empty();
}

bool by_class(const SplitCreate& split) {
    using enum SplitMethod;
    return split.method == stratified_kfold || split.method == stratified_group_kfold ||
           !split.stratify_by.empty();
}

bool has_folds(const SplitCreate& split) {
    return split.method != SplitMethod::fraction &&
           split.method != SplitMethod::leave_one_group_out;
}

/// The groups of the report are those of the dataset's own column.
bool are_groups_of_report(const SplitCreate& split, const store::Dataset& dataset) {
    if (split.group_by.empty()) return true;
    const Json options = store::stored_json(dataset.options);
    return options.is_object() && options.value("group_column", "") == split.group_by;
}

}    // namespace

std::vector<Problem> check_split_fit(const SplitCreate& split, const store::Dataset& dataset) {
    const auto report = report_of(dataset);
    if (!report->is_object() || !has_folds(split)) return {};
    const bool of_groups = by_group(split);
    if (of_groups && !are_groups_of_report(split, dataset)) return {};
    const auto count = report->value(of_groups ? "group_count" : "samples", std::int64_t{0});
    if (count == 0) return {};    // text, or no groups: the split itself says what is wrong
    // The first section of a time_series is never validated on.
    const std::int64_t most = split.method == SplitMethod::time_series ? count - 1 : count;
    if (split.folds <= most) return {};
    return {{.pointer = "/folds",
             .code = "out_of_bounds",
             .message =
                 fmt::format("folds must be at most {}, got {}: the dataset {} has {} {}", most,
                             split.folds, dataset.name, count, of_groups ? "groups" : "samples")}};
}

std::optional<Problem> rare_class_warning(const SplitCreate& split, const store::Dataset& dataset) {
    const auto report = report_of(dataset);
    if (!report->is_object() || !has_folds(split) || !by_class(split)) return std::nullopt;
    const auto classes = report->find("classes");
    if (classes == report->end() || !classes->is_array()) return std::nullopt;
    const Json* rarest = nullptr;
    for (const Json& one : *classes)
        if (one.is_object() && one.value("count", std::int64_t{0}) > 0 &&
            (rarest == nullptr || one["count"] < (*rarest)["count"]))
            rarest = &one;
    if (rarest == nullptr || (*rarest)["count"] >= split.folds) return std::nullopt;
    return Problem{
        .pointer = "/folds",
        .code = "inconsistent",
        .message = fmt::format("class {} has {} of the samples, fewer than folds ({}): some folds "
                               "validate on none of it; use at most {} folds, or leave it out of "
                               "the dataset",
                               rarest->value("name", ""), rarest->value("count", 0), split.folds,
                               rarest->value("count", 0))};
}

}    // namespace slipway::submission
