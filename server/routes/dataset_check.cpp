#include "server/routes/dataset_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace slipway {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t names_shown = 10;

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
