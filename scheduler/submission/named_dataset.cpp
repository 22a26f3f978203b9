#include "scheduler/submission/named_dataset.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/spec/table/nearest.h"
#include "scheduler/store/stored_json.h"

namespace slipway::submission {

namespace {

constexpr std::size_t names_shown = 10;

// Of datasets that a job can name, the newest first.
std::vector<std::string> usable_names(store::Store& store, std::string_view project) {
    std::vector<std::string> names;
    const auto page = store::list_datasets(store,
                                           {.projects = {std::string(project)},
                                            .format = {},
                                            .state = std::nullopt,
                                            .name_contains = {}},
                                           {.limit = 200, .cursor = {}});
    for (const store::Dataset& one : page.items)
        if (one.state != store::DatasetState::failed) names.push_back(one.name);
    return names;
}

Problem missing(store::Store& store, std::string_view project, const std::string& wanted) {
    std::vector<std::string> names = usable_names(store, project);
    const std::vector<std::string_view> views(names.begin(), names.end());
    std::string hint = "there is none yet: create it with POST /v1/datasets";
    if (const auto meant = nearest(wanted, views)) {
        hint = fmt::format("did you mean `{}`?", *meant);
        const auto found = std::ranges::find(names, *meant);
        std::rotate(names.begin(), found, found + 1);
    }
    if (names.size() > names_shown) names.resize(names_shown);
    if (!names.empty() && !hint.starts_with("did"))
        hint = fmt::format("there are {}", fmt::join(names, ", "));
    return {.pointer = "/data/dataset",
            .code = "unknown_dataset",
            .message = fmt::format("project {} has no dataset `{}`; {}", project, wanted, hint),
            .allowed = names};
}

// "points.csv, row 18, field a: …": the first thing that its check found.
std::string first_problem(const store::Dataset& dataset) {
    const Json problems = store::stored_json(dataset.problems);
    if (!problems.is_array() || problems.empty() || !problems[0].is_object())
        return "its check failed";
    const Json& first = problems[0];
    std::string text;
    for (const char* name : {"file", "row", "field"}) {
        const auto part = first.find(name);
        if (part == first.end() || part->is_null()) continue;
        const std::string value = part->is_string() ? part->get<std::string>() : part->dump();
        if (value.empty()) continue;
        text += name == std::string_view("file") ? value : fmt::format(", {} {}", name, value);
    }
    const auto message = first.find("message");
    if (message != first.end() && message->is_string())
        text += (text.empty() ? "" : ": ") + message->get<std::string>();
    return text;
}

}    // namespace

NamedDataset find_named_dataset(store::Store& store, std::string_view project,
                                const std::string& id_or_name, Tick asked_at) {
    auto dataset = store::find_dataset(store, project, id_or_name, asked_at);
    const bool there = dataset && dataset->project == project;
    if (!there) return {.dataset = {}, .problems = {missing(store, project, id_or_name)}};
    if (dataset->state != store::DatasetState::failed)
        return {.dataset = std::move(dataset), .problems = {}};
    return {.dataset = {},
            .problems = {{.pointer = "/data/dataset",
                          .code = "dataset_failed",
                          .message = fmt::format("the dataset {} cannot be used: {}", dataset->name,
                                                 first_problem(*dataset))}}};
}

}    // namespace slipway::submission
