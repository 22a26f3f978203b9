// Jobs beside each other: the fields of their specs that are not the same in all of them, then the
// last and the best value of each metric. What is the same would hide what is not.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "api/base/printable.h"
#include "api/client/commands_table.h"
#include "api/client/find_named.h"
#include "api/client/watch_commands.h"
#include "api/spec/task_spec.h"

namespace slipway::client {
namespace {

constexpr std::size_t jobs_min = 2;
constexpr std::size_t jobs_max = 20;
constexpr std::string_view absent = "–";

// A field by its dotted path, and what each job has there.
using Rows = std::vector<std::pair<std::string, std::vector<Json>>>;

// An array is one value: its items have no names of their own.
void flatten(const Json& value, const std::string& path, std::map<std::string, Json>& fields) {
    if (!value.is_object() || value.empty()) {
        fields[path] = value;
        return;
    }
    for (const auto& [name, part] : value.items())
        flatten(part, path.empty() ? name : path + "." + name, fields);
}

bool is_same(const std::vector<Json>& values) {
    return std::ranges::all_of(values, [&](const Json& one) { return one == values.front(); });
}

Rows spec_differences(const std::vector<Json>& jobs) {
    std::map<std::string, std::vector<Json>> all;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        std::map<std::string, Json> fields;
        flatten(jobs[i].value("spec", Json::object()), "", fields);
        for (auto& [path, value] : fields) {
            auto& values = all[path];
            values.resize(jobs.size());
            values[i] = std::move(value);
        }
    }
    Rows rows;
    for (auto& [path, values] : all)
        if (!is_same(values)) rows.emplace_back(path, std::move(values));
    return rows;
}

// Nothing for a metric of which no value is better than another.
std::optional<MetricMode> mode_of(const std::string& metric) {
    if (metric == "train_loss") return MetricMode::min;
    const auto known = validation_metric(metric);
    return known ? better(*known) : std::nullopt;
}

// Of summaries too: each has the least and the greatest of its values.
std::optional<double> best_of(const Json& points, MetricMode mode) {
    const bool lowest = mode == MetricMode::min;
    std::optional<double> best;
    for (const Json& point : points) {
        const auto found = point.find(lowest ? "min" : "max");
        const Json& value = found != point.end() ? *found : point.at("value");
        if (!value.is_number()) continue;
        const auto number = value.get<double>();
        if (!best || (lowest ? number < *best : number > *best)) best = number;
    }
    return best;
}

// The validation metrics and the training loss; the rate and the gradient's norm are no results.
bool is_result(const std::string& metric) {
    return metric.starts_with("val_") || metric == "train_loss";
}

Rows metric_rows(const HttpClient& client, const std::vector<Json>& jobs) {
    std::string ids;
    for (const Json& job : jobs)
        ids += (ids.empty() ? "" : ",") + text_of(job, "id");
    const Json answer = get(client, "/v1/metrics?resolution=100&jobs=" + percent_encode(ids));
    std::map<std::string, std::vector<Json>> all;
    const auto put = [&](const std::string& name, std::size_t job, Json value) {
        auto& values = all[name];
        values.resize(jobs.size());
        values[job] = std::move(value);
    };
    for (const Json& one : answer.at("jobs")) {
        const auto found = std::ranges::find_if(
            jobs, [&](const Json& job) { return text_of(job, "id") == text_of(one, "job_id"); });
        if (found == jobs.end()) continue;
        const auto job = std::size_t(found - jobs.begin());
        for (const Json& series : one.at("series")) {
            const std::string name = text_of(series, "name");
            const Json& points = series.at("points");
            if (!is_result(name) || points.empty()) continue;
            put("last " + name, job, value_cell(points.back()));
            const auto mode = mode_of(name);
            if (const auto best = mode ? best_of(points, *mode) : std::nullopt)
                put("best " + name, job, fmt::format("{:.5g}", *best));
        }
    }
    return {all.begin(), all.end()};
}

std::string shown(const Json& value) {
    if (value.is_null()) return std::string(absent);
    return printable_line(value.is_string() ? value.get<std::string>() : value.dump());
}

void add_rows(Listing& listing, const std::string& kind, const std::vector<Json>& jobs,
              const Rows& rows) {
    for (const auto& [name, values] : rows) {
        std::vector<std::string> row{kind, printable_line(name)};
        Json item{{"kind", kind}, {"field", name}, {"values", Json::object()}};
        for (std::size_t i = 0; i < values.size(); ++i) {
            row.push_back(shown(values[i]));
            item["values"][text_of(jobs[i], "id")] = values[i];
        }
        listing.rows.push_back(std::move(row));
        listing.items.push_back(std::move(item));
    }
}

}    // namespace

Listing compare_jobs(const HttpClient& client, const std::vector<std::string>& named) {
    if (named.size() < jobs_min || named.size() > jobs_max)
        throw Stop(ExitCode::usage, fmt::format("compare takes {} to {} jobs, got {}", jobs_min,
                                                jobs_max, named.size()));
    std::vector<Json> jobs;
    for (const std::string& one : named)
        jobs.push_back(get(client, job_path(find_id(client, NamedKind::job, one))));
    Listing listing{.head = {"kind", "field"}};
    std::vector<Json> names;
    std::vector<Json> states;
    for (const Json& job : jobs) {
        listing.head.push_back(text_of(job, "id"));
        names.emplace_back(text_of(job, "name"));
        states.emplace_back(text_of(job, "state"));
    }
    add_rows(listing, "job", jobs, {{"name", names}, {"state", states}});
    Rows fields = spec_differences(jobs);
    std::erase_if(fields, [](const auto& row) { return row.first == "name"; });
    add_rows(listing, "spec", jobs, fields);
    add_rows(listing, "metric", jobs, metric_rows(client, jobs));
    return listing;
}

}    // namespace slipway::client
