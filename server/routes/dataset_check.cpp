#include "server/routes/dataset_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/spec/table/nearest.h"
#include "server/routes/render.h"

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t names_shown = 10;

// The nearest name first, then the newest.
std::vector<std::string> names_near(store::Store& store, std::string_view project,
                                    const std::string& wanted) {
    std::vector<std::string> names;
    const auto page = store::list_datasets(
        store, {.projects = {std::string(project)}, .format = {}, .state = std::nullopt},
        {.limit = 200, .cursor = {}});
    for (const store::Dataset& one : page.items)
        names.push_back(one.name);
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (const auto near = nearest(wanted, views)) {
        const auto found = std::ranges::find(names, *near);
        std::rotate(names.begin(), found, found + 1);
    }
    if (names.size() > names_shown) names.resize(names_shown);
    return names;
}

Problem missing(store::Store& store, std::string_view project, const std::string& wanted) {
    const std::vector<std::string> names = names_near(store, project, wanted);
    const std::string there = names.empty() ? std::string(
                                                  "there is none yet: create it with POST "
                                                  "/v1/datasets")
                                            : fmt::format("there are {}", fmt::join(names, ", "));
    return {.pointer = "/data/dataset",
            .code = "unknown_dataset",
            .message = fmt::format("project {} has no dataset `{}`; {}", project, wanted, there),
            .allowed = names};
}

// "points.csv, row 18, field a: …": the first thing that its check found.
std::string first_problem(const store::Dataset& dataset) {
    const Json problems = stored_json(dataset.problems);
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

Problem refuse_path(std::string code, std::string message, std::vector<std::string> allowed = {}) {
    return {.pointer = "/source/path",
            .code = std::move(code),
            .message = std::move(message),
            .allowed = std::move(allowed)};
}

// What the project may use of the folders below the roots that are open to it.
std::vector<std::string> entries_of(std::string_view project, const std::vector<DatasetRoot>& open,
                                    const std::vector<DatasetRoot>& roots) {
    std::vector<std::string> names;
    std::error_code error;
    for (const DatasetRoot& root : open)
        for (fs::directory_iterator entry(root.path, error), end; !error && entry != end;
             entry.increment(error)) {
            const std::string name = entry->path().filename();
            std::error_code missing;
            const fs::path real = fs::canonical(entry->path(), missing);
            if (!name.starts_with('.') && !missing && may_read(real, project, roots))
                names.push_back(name);
        }
    std::ranges::sort(names);
    if (names.size() > names_shown) names.resize(names_shown);
    return names;
}

}    // namespace

NamedDataset find_named_dataset(store::Store& store, std::string_view project,
                                const std::string& id_or_name) {
    auto dataset = store::find_dataset(store, project, id_or_name);
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

std::vector<Problem> check_dataset_path(const std::string& path, std::string_view project,
                                        const std::vector<DatasetRoot>& roots) {
    const std::vector<DatasetRoot> open = roots_open_to(project, roots);
    if (open.empty())
        return {refuse_path("not_allowed",
                            fmt::format("this service was started without a --dataset-root for the "
                                        "project {}; upload the files instead (source.upload)",
                                        project))};
    const bool climbs = std::ranges::any_of(
        fs::path(path), [](const fs::path& part) { return part == ".." || part == "."; });
    if (climbs || path.find('\0') != std::string::npos)
        return {refuse_path("bad_format",
                            "the path must name a folder below a dataset root, "
                            "without . and .. in it")};
    bool exists_outside = false;
    for (const DatasetRoot& root : open) {
        std::error_code error;
        const fs::path real = fs::canonical(root.path / path, error);
        if (error) continue;
        if (is_below(real, root.path)) {
            if (may_read(real, project, roots)) return {};
            continue;    // in a root within this one, which is not there for the project
        }
        exists_outside = true;
    }
    if (exists_outside || fs::path(path).is_absolute())
        return {refuse_path("not_allowed",
                            fmt::format("{} is not below a folder that the operator allowed with "
                                        "--dataset-root",
                                        path))};
    const std::vector<std::string> names = entries_of(project, open, roots);
    return {refuse_path(
        "not_found",
        fmt::format("there is no {} below the dataset roots; there are {}", path,
                    names.empty() ? "no folders" : fmt::format("{}", fmt::join(names, ", "))),
        names)};
}

}    // namespace slipway
