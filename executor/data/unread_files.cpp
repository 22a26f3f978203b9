#include "executor/data/unread_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "executor/data/files.h"
#include "executor/data/formats/csv_reader.h"

namespace slipway {

namespace fs = std::filesystem;

std::optional<DataProblem> unread_files(const fs::path& path, std::span<const std::string> read,
                                        const ProblemLog& problems) {
    if (!fs::is_directory(path)) return std::nullopt;
    std::unordered_set<std::string> known;    // files, and folders that are named as a whole
    for (const std::string& name : read)
        known.insert(fs::path(name).lexically_normal().string());
    for (const auto* list : {&problems.listed(), &problems.warnings()})
        for (const DataProblem& problem : *list)
            known.insert(problem.file);
    const auto is_known = [&](const std::string& file) {
        for (fs::path each = file; !each.empty(); each = each.parent_path())
            if (known.contains(each.string())) return true;
        return false;
    };
    constexpr std::size_t listed_max = 5;
    std::vector<std::string> listed;
    std::size_t count = 0;
    std::vector<std::string> links;
    const auto add = [&](const std::string& file, const char* kind) {
        if (!is_known(file) && ++count <= listed_max) listed.push_back(shown(file) + kind);
    };
    for (const std::string& file : Folder(path).list(&links))
        add(file, "");
    for (const std::string& link : links)
        add(link, " (a link to a folder)");
    if (count == 0) return std::nullopt;
    return DataProblem{.message =
                           fmt::format("{} of the folder {} not read: {}{}",
                                       count == 1 ? "1 file" : fmt::format("{} files", count),
                                       count == 1 ? "is" : "are", fmt::join(listed, ", "),
                                       count > listed_max ? ", …" : "")};
}

}    // namespace slipway
