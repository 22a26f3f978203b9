#include "scheduler/artifacts/artifact_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "api/base/error.h"
#include "scheduler/artifacts/below.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

struct ArtifactRow {
    Artifact kind;
    std::string_view folder;     // below home
    std::string_view ending;     // of an id's file
    std::string_view garbage;    // how the database names the kind; empty: it is never garbage
    bool made_by_home = true;    // else by who writes there
};

constexpr std::string_view shared_folder_name = "store";

constexpr auto rows = std::to_array<ArtifactRow>({
    {Artifact::checkpoint, "store/checkpoints", "", "checkpoints"},
    {Artifact::dataset, "store/datasets", "", "datasets"},
    {Artifact::upload, "store/uploads", "", "uploads"},
    {Artifact::report, "store/reports", "", "reports"},
    {Artifact::split, "store/splits", ".json", "splits"},
    {Artifact::packed_images, "store/packed", "", ""},
    {Artifact::decoded_data, "store/decoded", "", ""},
    {Artifact::compile_cache, "store/compile_cache", "", ""},
    {Artifact::weights_export, "store/exports", "", "", false},
    {Artifact::run, "runs", "", "runs"},
    {Artifact::check, "runs/checks", "", ""},
});

const ArtifactRow& row_of(Artifact kind) {
    return *std::ranges::find(rows, kind, &ArtifactRow::kind);
}

}    // namespace

ArtifactStore::ArtifactStore(fs::path home) : home_(std::move(home)) {}

fs::path ArtifactStore::shared_folder() const {
    return home_ / shared_folder_name;
}

fs::path ArtifactStore::folder(Artifact kind) const {
    return home_ / row_of(kind).folder;
}

fs::path ArtifactStore::locate(Artifact kind, std::string_view id, std::string_view part) const {
    fs::path place = folder(kind) / fmt::format("{}{}", id, row_of(kind).ending);
    return part.empty() ? place : place / part;
}

std::optional<fs::path> ArtifactStore::locate_garbage(std::string_view name) const {
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0) return std::nullopt;
    const auto row = std::ranges::find(rows, name.substr(0, slash), &ArtifactRow::garbage);
    if (row == rows.end()) return std::nullopt;
    return below(folder(row->kind), std::string(name.substr(slash + 1)));
}

void ArtifactStore::put(Artifact kind, std::string_view id, const fs::path& written) const {
    const fs::path place = locate(kind, id);
    std::error_code problem;
    const fs::file_status found = fs::symlink_status(written, problem);
    if (found.type() == fs::file_type::not_found && fs::exists(place, problem)) return;
    if (!fs::is_regular_file(found))
        throw Error{ErrorCode::invalid_argument,
                    fmt::format("{} is no regular file", written.string())};
    fs::rename(written, place, problem);
    if (problem)
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be moved to {}: {}", written.string(), place.string(),
                                problem.message())};
}

std::vector<std::string_view> artifact_folders() {
    std::vector<std::string_view> folders{shared_folder_name};
    for (const ArtifactRow& row : rows)
        if (row.made_by_home) folders.push_back(row.folder);
    return folders;
}

}    // namespace slipway
