#include "executor/main/metrics_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "api/base/error.h"
#include "api/base/posix.h"

namespace slipway {

namespace {

constexpr std::string_view fixed_columns = "step,epoch";

std::string header(const std::vector<std::string>& columns) {
    std::string line(fixed_columns);
    for (const std::string& column : columns)
        line += "," + column;
    return line + "\n";
}

std::string row(const MetricPoint& point, const std::vector<std::string>& columns) {
    std::string line = fmt::format("{},{}", point.step, point.epoch);
    for (const std::string& column : columns) {
        line += ',';
        const auto found =
            std::ranges::find(point.values, column, &decltype(point.values)::value_type::first);
        if (found != point.values.end()) line += fmt::format("{}", found->second);
    }
    return line + "\n";
}

}    // namespace

MetricsCsv::MetricsCsv(std::filesystem::path file) : file_(std::move(file)) {
    std::ifstream older(file_);
    std::string line;
    if (!std::getline(older, line) || !line.starts_with(fixed_columns)) return;
    std::istringstream names(line.substr(fixed_columns.size()));
    for (std::string name; std::getline(names, name, ',');)
        if (!name.empty()) columns_.push_back(name);
}

void MetricsCsv::forget_after(std::int64_t step) {
    std::ifstream older(file_);
    if (!older) return;
    std::string kept = header(columns_);
    std::string line;
    for (bool first = true; std::getline(older, line); first = false) {
        std::int64_t row_step = 0;
        const auto read = std::from_chars(line.data(), line.data() + line.size(), row_step);
        if (!first && read.ec == std::errc{} && row_step <= step) kept += line + "\n";
    }
    write_file_aside(file_, kept);
}

void MetricsCsv::add(const MetricPoint& point) {
    if (add_columns(point)) rewrite();
    std::ofstream file(file_, std::ios::app);
    file << row(point, columns_) << std::flush;
    if (!file) {
        throw Error{ErrorCode::exhausted, fmt::format("cannot write {}", file_.string())};
    }
}

bool MetricsCsv::add_columns(const MetricPoint& point) {
    const std::size_t before = columns_.size();
    for (const auto& [name, value] : point.values) {
        if (std::ranges::find(columns_, name) == columns_.end()) columns_.push_back(name);
    }
    return columns_.size() != before || !std::filesystem::exists(file_);
}

/// The same rows under the new header: the new columns are at the end, so rows only grow.
void MetricsCsv::rewrite() {
    std::ifstream older(file_);
    std::string text = header(columns_);
    const auto columns = std::ptrdiff_t(columns_.size() + 2);
    std::string line;
    for (bool first = true; std::getline(older, line); first = false) {
        if (first || line.empty()) continue;
        const std::ptrdiff_t commas = std::ranges::count(line, ',');
        text += line +
                std::string(std::size_t(std::max<std::ptrdiff_t>(columns - 1 - commas, 0)), ',') +
                "\n";
    }
    write_file_aside(file_, text);
}

}    // namespace slipway
