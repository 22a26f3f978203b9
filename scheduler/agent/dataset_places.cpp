#include "scheduler/agent/dataset_places.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/base/json.h"
#include "scheduler/agent/run_folder.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

bool is_below(const fs::path& path, const fs::path& root) {
    std::error_code problem;
    const fs::path real = fs::weakly_canonical(path, problem);
    const fs::path top = fs::weakly_canonical(root, problem);
    if (problem) return false;
    const auto [end, rest] = std::mismatch(top.begin(), top.end(), real.begin(), real.end());
    return end == top.end() || (end->empty() && std::next(end) == top.end());
}

std::optional<fs::path> find_below_roots(const std::string& path,
                                         const std::vector<fs::path>& roots) {
    for (const fs::path& root : roots) {
        const auto place =
            fs::path(path).is_absolute() ? std::optional<fs::path>(path) : below(root, path);
        // Links inside a root may lead out of it: what counts is where the path really is.
        if (place && is_below(*place, root) && fs::exists(*place)) return place;
    }
    return std::nullopt;
}

}    // namespace

std::optional<DatasetPlace> find_dataset_place(const std::string& source, const std::string& id,
                                               const fs::path& home,
                                               const std::vector<fs::path>& roots) {
    const Json parsed = Json::parse(source, nullptr, false);
    if (!parsed.is_object()) return std::nullopt;
    if (const auto path = parsed.find("path"); path != parsed.end() && path->is_string()) {
        const auto found = find_below_roots(path->get<std::string>(), roots);
        if (!found) return std::nullopt;
        return DatasetPlace{.path = *found, .upload = {}, .upload_id = {}, .filename = {}};
    }
    const auto upload = parsed.find("upload");
    if (upload == parsed.end() || !upload->is_string()) return std::nullopt;
    const auto upload_id = upload->get<std::string>();
    const auto file = below(home / "store" / "uploads", upload_id);
    if (!file) return std::nullopt;
    const auto filename = parsed.find("filename");
    const bool is_named = filename != parsed.end() && filename->is_string();
    return DatasetPlace{.path = home / "store" / "datasets" / id,
                        .upload = *file,
                        .upload_id = upload_id,
                        .filename = is_named ? filename->get<std::string>() : "data"};
}

}    // namespace slipway
