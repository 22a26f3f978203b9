#include "executor/data/formats/target_columns.h"

#include <fmt/core.h>

#include <algorithm>

namespace slipway {

TargetColumns::TargetColumns(const CsvReader& table, const DatasetOptions& options)
    : options_(&options) {
    check_target_columns(options);
    for (const std::string& name : options.label_columns)
        columns_.push_back(required_column(table, name, "label_columns"));
}

bool TargetColumns::holds(std::size_t column) const {
    return std::ranges::find(columns_, column) != columns_.end();
}

std::optional<DataProblem> TargetColumns::read(const std::vector<std::string>& fields,
                                               std::vector<float>& targets) const {
    const std::size_t before = targets.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const std::string& text = fields[columns_[i]];
        const std::optional<float> number = parse_number(text);
        std::optional<std::string> wrong;
        if (number) {
            wrong = target_problem(*number, *options_);
        } else if (text.empty()) {
            wrong = "the label is missing; fill it or leave the row out";
        } else {
            wrong = fmt::format("{} is not a finite number", shown(text));
        }
        if (wrong) {
            targets.resize(before);
            return DataProblem{.field = options_->label_columns[i], .message = *wrong};
        }
        targets.push_back(*number);
    }
    return std::nullopt;
}

std::optional<std::string> target_problem(float value, const DatasetOptions& options) {
    if (!options.labels_are_shares || (value >= 0 && value <= 1)) return std::nullopt;
    return fmt::format("a label of this task must be from 0 to 1, got {}", value);
}

void check_target_columns(const DatasetOptions& options) {
    for (const std::string& name : options.label_columns) {
        if (std::ranges::find(options.feature_columns, name) == options.feature_columns.end())
            continue;
        throw Error{
            ErrorCode::invalid_argument,
            fmt::format("{} is a label column and a feature column; it can be only one of them",
                        shown(name))};
    }
}

}    // namespace slipway
