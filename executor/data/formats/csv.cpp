#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "api/base/letter_case.h"
#include "executor/data/formats/column_rests.h"
#include "executor/data/formats/csv_columns.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/distinct_parts.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/table_dataset.h"
#include "executor/data/formats/target_columns.h"
#include "executor/data/names.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

struct Columns {
    std::optional<std::size_t> label;    ///< of classes
    TargetColumns targets;               ///< of numbers instead
    std::optional<std::size_t> group;
    std::vector<std::size_t> features;
    std::vector<std::string> feature_names;
};

Columns find_columns(const CsvReader& table, const DatasetOptions& options) {
    Columns columns;
    if (options.label_columns.empty()) {
        columns.label = required_column(table, options.label_column, "label_column");
    } else {
        columns.targets = TargetColumns(table, options);
    }
    if (!options.group_column.empty()) {
        columns.group = required_column(table, options.group_column, "group_column");
    }
    for (const std::string& name : options.feature_columns) {
        columns.features.push_back(required_column(table, name, "feature_columns"));
        columns.feature_names.push_back(table.columns()[columns.features.back()]);
    }
    if (!columns.features.empty()) return columns;
    std::vector<std::size_t> excluded;
    for (const std::string& name : options.excluded_columns)
        if (const auto column = table.column(name)) excluded.push_back(*column);
    for (std::size_t i = 0; i < table.columns().size(); ++i) {
        if (i == columns.label || i == columns.group || columns.targets.holds(i)) continue;
        if (std::ranges::find(excluded, i) != excluded.end()) continue;
        columns.features.push_back(i);
        columns.feature_names.push_back(table.columns()[i]);
    }
    if (columns.features.empty()) {
        throw DataError({.file = table.file(),
                         .row = 1,
                         .message = "there is no column besides label and group to learn from"});
    }
    return columns;
}

std::string part_of_table(std::string_view file) {
    return without_ending(file, ".csv");
}

/// Gathers the rows of one file after the other.
class TableBuilder {
public:
    TableBuilder(const DatasetOptions& options, ProblemLog& problems)
        : options_(options), problems_(problems), classes_(options.class_names) {}

    /// `part` is the file's number when there are several, else none.
    void add_file(CsvReader table, std::optional<std::int32_t> part) {
        const Columns columns = find_columns(table, options_);
        if (feature_names_.empty()) {
            feature_names_ = columns.feature_names;
            rests_ = ColumnRests(feature_names_.size());
        }
        if (columns.feature_names != feature_names_) {
            throw DataError({.file = table.file(),
                             .row = 1,
                             .message = "the columns differ from those of the first file"});
        }
        if (index_.column_names.empty()) index_.column_names = table.columns();
        std::vector<std::string> fields;
        while (table.next(fields)) {
            if (add_row(table, columns, fields, part) && part) index_.parts.push_back(*part);
        }
    }

    std::unique_ptr<Dataset> finish(std::vector<std::string> files) {
        if (places_.empty()) {
            problems_.add({.file = files[0], .message = "there is no row that can be used"});
        }
        index_.feature_dims = {std::int64_t(feature_names_.size())};
        index_.feature_names = feature_names_;
        index_.target_names = options_.label_columns;
        if (index_.target_names.empty()) {
            index_.class_names =
                options_.class_names.empty() ? classes_.sort(index_.labels) : options_.class_names;
        }
        index_.group_column = options_.group_column;
        index_.group_names = groups_.sort(index_.groups);
        if (!index_.parts.empty()) {
            for (const std::string& file : files)
                index_.part_names.push_back(part_of_table(file));
        }
        return std::make_unique<TableDataset>(std::move(index_), std::move(features_),
                                              std::move(places_), std::move(files), rests_.take());
    }

private:
    /// All columns are features unless they are named.
    std::string problem_of_number(const std::string& text) const {
        if (text.empty()) return "the value is missing; fill it or leave the row out";
        return fmt::format("{} is not a finite number{}", shown(text),
                           options_.feature_columns.empty()
                               ? "; if this column is no feature, name those that are in "
                                 "feature_columns"
                               : "");
    }

    /// False when the row has a problem: it is left out.
    bool add_row(const CsvReader& table, const Columns& columns,
                 const std::vector<std::string>& fields, std::optional<std::int32_t> part) {
        const auto problem = [&](const std::string& field, const std::string& message) {
            problems_.add(
                {.file = table.file(), .row = table.row(), .field = field, .message = message});
            return false;
        };
        if (fields.size() != table.columns().size()) {
            return problem({}, fmt::format("the row has {} fields where the header has {}",
                                           fields.size(), table.columns().size()));
        }
        if (columns.label) {
            const std::string& label = fields[*columns.label];
            if (without_blanks(label).empty())
                return problem(options_.label_column, "the label is empty");
            if (const auto wrong = name_problem(label, "label_column"))
                return problem(options_.label_column, *wrong);
            if (!options_.class_names.empty() && !classes_.contains(label)) {
                return problem(options_.label_column,
                               fmt::format("{} is not among class_names", shown(label)));
            }
        }
        if (columns.group && without_blanks(fields[*columns.group]).empty()) {
            return problem(options_.group_column, "the group is empty");
        }
        if (columns.group) {
            if (const auto wrong = name_problem(fields[*columns.group], "group_column"))
                return problem(options_.group_column, *wrong);
        }
        const std::size_t before = features_.size();
        for (std::size_t i = 0; i < columns.features.size(); ++i) {
            const std::string& text = fields[columns.features[i]];
            const std::optional<float> number = parse_number(text);
            if (!number) {
                features_.resize(before);
                return problem(columns.feature_names[i], problem_of_number(text));
            }
            features_.push_back(*number);
        }
        if (const auto wrong = columns.targets.read(fields, index_.targets)) {
            features_.resize(before);
            return problem(wrong->field, wrong->message);
        }
        check_table_size(features_.size() + index_.targets.size());
        rests_.add_row(
            [&](std::size_t i) {
                return parse_exact_number(fields[columns.features[i]]).value_or(0);
            },
            std::span(features_).subspan(before));
        index_.labels.push_back(columns.label ? classes_.number(fields[*columns.label]) : 0);
        if (columns.group) index_.groups.push_back(groups_.number(fields[*columns.group]));
        places_.push_back({part.value_or(0), table.row()});
        return true;
    }

    const DatasetOptions& options_;
    ProblemLog& problems_;
    NameTable classes_, groups_;
    DatasetIndex index_;
    std::vector<std::string> feature_names_;
    std::vector<float> features_;
    ColumnRests rests_{0};
    std::vector<TableDataset::Place> places_;
};

bool is_table_name(const std::string& any_case) {
    const std::string name = lower_case(any_case);
    return name.find('/') == std::string::npos &&
           (name.ends_with(".csv") || name.ends_with(".csv.gz"));
}

struct TableFiles {
    Folder folder;
    std::vector<std::string> names;
};

TableFiles find_tables(const fs::path& path) {
    const bool single = fs::is_regular_file(path);
    TableFiles tables{Folder(single ? path.parent_path() / "." : path), {}};
    std::vector<std::string>& files = tables.names;
    if (single) {
        files = {path.filename().string()};
    } else {
        files = tables.folder.list();
        if (files.size() != 1)    // an upload's one file may have any name
            std::erase_if(files, [](const std::string& name) { return !is_table_name(name); });
    }
    if (files.empty()) {
        throw DataError({.message = "the folder has no file that ends with .csv or .csv.gz"});
    }
    require_distinct_parts(files, part_of_table);
    return tables;
}

}    // namespace

std::unique_ptr<Dataset> open_csv(const fs::path& path, const DatasetOptions& options,
                                  ProblemLog& problems) {
    if (options.image_size > 0 || options.channels > 0) {
        throw Error{ErrorCode::invalid_argument,
                    "image_size and channels are for images; a csv dataset has columns"};
    }
    const TableFiles tables = find_tables(path);
    TableBuilder builder(options, problems);
    for (std::size_t i = 0; i < tables.names.size(); ++i) {
        builder.add_file(
            CsvReader(ByteStream(tables.folder.open(tables.names[i]), tables.names[i])),
            tables.names.size() > 1 ? std::optional(std::int32_t(i)) : std::nullopt);
    }
    return builder.finish(tables.names);
}

std::vector<std::string> csv_feature_columns(const fs::path& path, const DatasetOptions& options) {
    const TableFiles tables = find_tables(path);
    const std::string& first = tables.names[0];
    return find_columns(CsvReader(ByteStream(tables.folder.open(first), first)), options)
        .feature_names;
}

}    // namespace slipway
