#include "api/client/ensemble_csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/error.h"

namespace slipway::client {
namespace {

/// The fields of a row as they are written, with their quotes.
using Fields = std::vector<std::string>;

[[noreturn]] void refuse_predictions(const std::string& message) {
    throw Error{ErrorCode::invalid_argument, message};
}

/// False at the end. A line break inside quotes belongs to its field.
bool read_fields(std::istream& in, Fields& fields) {
    fields.assign(1, {});
    bool quoted = false;
    char byte = 0;
    bool any = false;
    while (in.get(byte)) {
        any = true;
        if (byte == '"') quoted = !quoted;
        if (byte == '\n' && !quoted) return true;
        if (byte == ',' && !quoted) {
            fields.emplace_back();
        } else {
            fields.back() += byte;
        }
    }
    if (any) refuse_predictions("the predictions end within a row");
    return false;
}

/// What becomes of a column.
enum class Column { same, averaged, best_name, best_index };

std::string_view unquoted(std::string_view field) {
    return field.starts_with('"') ? field.substr(1) : field;
}

std::vector<Column> columns_of(const Fields& header) {
    const bool has_classes = std::ranges::find(header, "predicted") != header.end();
    std::vector<Column> columns;
    for (const std::string& field : header) {
        const std::string_view name = unquoted(field);
        if (has_classes && name == "predicted") {
            columns.push_back(Column::best_name);
        } else if (has_classes && name == "predicted_index") {
            columns.push_back(Column::best_index);
        } else if (name.starts_with("p_") || (!has_classes && name.starts_with("predicted_"))) {
            columns.push_back(Column::averaged);
        } else {
            columns.push_back(Column::same);
        }
    }
    return columns;
}

std::optional<double> number_of(const std::string& field) {
    if (field.empty()) return std::nullopt;    // it was not finite
    double number = 0;
    const auto [end, problem] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (problem != std::errc{} || end != field.data() + field.size())
        refuse_predictions(fmt::format("`{}` is no number of a prediction", field));
    return number;
}

/// Of one column over the rows of all models.
std::optional<double> mean_of(const std::vector<Fields>& rows, std::size_t column) {
    double sum = 0;
    for (const Fields& row : rows) {
        const auto number = number_of(row[column]);
        if (!number) return std::nullopt;
        sum += *number;
    }
    return sum / double(rows.size());
}

class Ensemble {
public:
    explicit Ensemble(const Fields& header) : header_(header), columns_(columns_of(header)) {
        if (std::ranges::find(columns_, Column::averaged) == columns_.end()) {
            refuse_predictions(
                "these predictions have no probabilities and no predicted numbers to average");
        }
    }

    std::string join(const std::vector<Fields>& rows) const {
        std::vector<std::optional<double>> means(columns_.size());
        std::optional<std::size_t> best;    // the column of the largest mean
        std::size_t best_index = 0;
        std::size_t averaged = 0;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (columns_[c] != Column::averaged) continue;
            means[c] = mean_of(rows, c);
            if (means[c] && (!best || *means[c] > *means[*best])) {
                best = c;
                best_index = averaged;
            }
            ++averaged;
        }
        std::string line;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (c > 0) line += ',';
            if (columns_[c] == Column::same) line += same_in_all(rows, c);
            if (columns_[c] == Column::averaged && means[c]) line += fmt::format("{}", *means[c]);
            if (columns_[c] == Column::best_name && best) line += class_name(*best);
            if (columns_[c] == Column::best_index && best) line += fmt::format("{}", best_index);
        }
        return line + "\n";
    }

private:
    /// Of the column p_NAME, with the quotes that it needs.
    std::string class_name(std::size_t column) const {
        const std::string& name = header_[column];
        constexpr std::string_view prefix = "p_";
        if (!name.starts_with('"')) return name.substr(prefix.size());
        return "\"" + name.substr(1 + prefix.size());
    }

    const std::string& same_in_all(const std::vector<Fields>& rows, std::size_t column) const {
        for (const Fields& row : rows) {
            if (row[column] == rows[0][column]) continue;
            refuse_predictions(
                fmt::format("the predictions are of different samples: {} is {} in "
                            "one and {} in another",
                            header_[column], rows[0][column], row[column]));
        }
        return rows[0][column];
    }

    Fields header_;
    std::vector<Column> columns_;
};

/// False at the end of all.
bool read_rows(const std::vector<std::unique_ptr<std::istream>>& models,
               std::vector<Fields>& rows) {
    std::size_t read = 0;
    for (std::size_t m = 0; m < models.size(); ++m)
        read += read_fields(*models[m], rows[m]) ? 1 : 0;
    if (read == 0) return false;
    if (read < models.size()) refuse_predictions("the predictions have different numbers of rows");
    return true;
}

}    // namespace

std::int64_t average_predictions(const std::vector<std::unique_ptr<std::istream>>& models,
                                 std::ostream& out) {
    std::vector<Fields> rows(models.size());
    if (models.empty() || !read_rows(models, rows)) refuse_predictions("there are no predictions");
    const Fields header = rows[0];
    for (const Fields& row : rows)
        if (row != header) refuse_predictions("the predictions have different columns");
    const Ensemble ensemble(header);
    out << fmt::format("{}\n", fmt::join(header, ","));
    std::int64_t count = 0;
    while (read_rows(models, rows)) {
        for (const Fields& row : rows)
            if (row.size() != header.size())
                refuse_predictions("a row has too few or too many fields");
        out << ensemble.join(rows);
        ++count;
    }
    return count;
}

}    // namespace slipway::client
