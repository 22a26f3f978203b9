#include <fmt/core.h>

#include <optional>
#include <unordered_map>

#include "executor/data/files.h"
#include "executor/data/formats/csv_reader.h"
#include "executor/data/formats/format.h"
#include "executor/data/formats/image_files.h"
#include "executor/data/formats/name_table.h"
#include "executor/data/formats/target_columns.h"

namespace slipway {

namespace {

/// Reads the table row by row; what is wrong with a row leaves it out.
class Table {
public:
    Table(CsvReader table, const Folder& folder, const DatasetOptions& options,
          ProblemLog& problems)
        : table_(std::move(table)),
          folder_(folder),
          options_(options),
          problems_(problems),
          file_column_(required_column(table_, options.file_column, "file_column")),
          classes_(options.class_names) {
        if (options.label_columns.empty()) {
            label_column_ = required_column(table_, options.label_column, "label_column");
        } else {
            targets_ = TargetColumns(table_, options);
        }
        if (!options.group_column.empty()) {
            group_column_ = required_column(table_, options.group_column, "group_column");
        }
    }

    ImageList read() {
        std::vector<std::string> fields;
        while (table_.next(fields))
            add(fields);
        if (list_.names.empty()) {
            problem(1, {}, "the table has no row that can be used");
        }
        DatasetIndex& index = list_.index;
        index.column_names = table_.columns();
        index.target_names = options_.label_columns;
        if (index.target_names.empty()) {
            index.class_names =
                options_.class_names.empty() ? classes_.sort(index.labels) : options_.class_names;
        }
        index.group_column = options_.group_column;
        index.group_names = groups_.sort(index.groups);
        list_.other_files = {table_.file()};
        return std::move(list_);
    }

private:
    void problem(std::int64_t row, const std::string& field, const std::string& message) {
        problems_.add({.file = table_.file(), .row = row, .field = field, .message = message});
    }

    void add(const std::vector<std::string>& fields) {
        const std::int64_t row = table_.row();
        if (fields.size() != table_.columns().size()) {
            return problem(row, {},
                           fmt::format("the row has {} fields where the header has {}",
                                       fields.size(), table_.columns().size()));
        }
        const std::string& name = fields[file_column_];
        if (label_column_) {
            const std::string& label = fields[*label_column_];
            if (without_blanks(label).empty())
                return problem(row, options_.label_column, "the label is empty");
            if (const auto wrong = name_problem(label, "label_column"))
                return problem(row, options_.label_column, *wrong);
            if (!options_.class_names.empty() && !classes_.contains(label)) {
                return problem(row, options_.label_column,
                               fmt::format("{} is not among class_names", shown(label)));
            }
        }
        if (group_column_ && without_blanks(fields[*group_column_]).empty()) {
            return problem(row, options_.group_column, "the group is empty");
        }
        if (group_column_) {
            if (const auto wrong = name_problem(fields[*group_column_], "group_column"))
                return problem(row, options_.group_column, *wrong);
        }
        const auto [earlier, added] =
            rows_.try_emplace(std::filesystem::path(name).lexically_normal().string(), row);
        if (!added) {
            return problem(row, options_.file_column,
                           fmt::format("{} is listed already in row {}; a file listed twice could "
                                       "be in both training and validation",
                                       shown(name), earlier->second));
        }
        if (!can_be_opened(row, name)) return;
        if (const auto wrong = targets_.read(fields, list_.index.targets))
            return problem(row, wrong->field, wrong->message);
        list_.names.push_back(name);
        list_.index.labels.push_back(label_column_ ? classes_.number(fields[*label_column_]) : 0);
        if (group_column_) {
            list_.index.groups.push_back(groups_.number(fields[*group_column_]));
        }
    }

    bool can_be_opened(std::int64_t row, const std::string& name) {
        try {
            folder_.open(name);
            return true;
        } catch (const DataError& refused) {    // named by its row: that is where it is mended
            problem(row, options_.file_column,
                    fmt::format("{}: {}", shown(name), refused.problem().message));
            return false;
        }
    }

    CsvReader table_;
    const Folder& folder_;
    const DatasetOptions& options_;
    ProblemLog& problems_;
    std::size_t file_column_;
    std::optional<std::size_t> label_column_;    ///< of classes
    TargetColumns targets_;                      ///< of numbers instead
    std::optional<std::size_t> group_column_;
    NameTable classes_, groups_;
    std::unordered_map<std::string, std::int64_t> rows_;    ///< by the path's normal form
    ImageList list_;
};

}    // namespace

std::unique_ptr<Dataset> open_image_csv(const std::filesystem::path& path,
                                        const DatasetOptions& options, ProblemLog& problems) {
    const Folder folder(path);
    CsvReader table(ByteStream(folder.open(options.labels_file), options.labels_file));
    ImageList list = Table(std::move(table), folder, options, problems).read();
    return open_image_files(path, std::move(list), options, problems);
}

}    // namespace slipway
