#include "scheduler/agent/weights_place.h"

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "api/base/json.h"
#include "scheduler/agent/run_folder.h"
#include "scheduler/store/checkpoints.h"
#include "scheduler/store/datasets.h"

namespace slipway {

namespace fs = std::filesystem;

namespace {

/// model.init.from; empty when there is none.
std::string source_of(const std::string& spec) {
    const Json parsed = Json::parse(spec, nullptr, false);
    const Json::json_pointer place("/model/init/from");
    if (!parsed.is_object() || !parsed.contains(place)) return {};
    const Json& from = parsed.at(place);
    return from.is_string() ? from.get<std::string>() : std::string();
}

}    // namespace

std::optional<fs::path> find_weights_place(store::Store& store, const std::string& spec,
                                           const fs::path& home) {
    const std::string from = source_of(spec);
    if (from.empty()) return fs::path();
    if (is_id("ckp", from)) {
        const auto checkpoint = store::find_checkpoint(store, from);
        if (!checkpoint || checkpoint->deleted_at) return std::nullopt;
        return home / "store" / "checkpoints" / checkpoint->job_id / checkpoint->name;
    }
    const auto upload = is_id("upl", from) ? store::find_upload(store, from) : std::nullopt;
    if (!upload || !upload->complete) return std::nullopt;
    return home / "store" / "uploads" / upload->id;
}

}    // namespace slipway
