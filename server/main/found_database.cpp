#include "server/main/found_database.h"

#include <fmt/format.h>

#include <filesystem>

#include "api/base/error.h"
#include "scheduler/store/cluster/layout.h"
#include "server/main/home.h"

namespace slipway {

FoundDatabase find_database(const Options& options) {
    if (!options.database.empty()) return {.cluster = nullptr, .url = options.database};
    const std::filesystem::path home = home_folder(options.home);
    const store::ClusterLayout layout = store::layout_of(home);
    if (store::find_postmaster(layout))
        return {.cluster = nullptr, .url = store::address_of(layout, "slipway")};
    if (!std::filesystem::exists(layout.data))
        throw Error{ErrorCode::not_found,
                    fmt::format("{} is not the home folder of a service: it has no database",
                                home.string())};
    FoundDatabase found;
    found.cluster =
        std::make_unique<store::Cluster>(store::ClusterOptions{.home = home, .tools = {}});
    found.url = found.cluster->database_url();
    return found;
}

}    // namespace slipway
