#pragma once

#include <memory>
#include <string>

#include "scheduler/store/cluster/cluster.h"
#include "server/main/options.h"

namespace slipway {

/// The database of a service that may be running.
struct FoundDatabase {
    std::unique_ptr<store::Cluster> cluster;    ///< started by us: no service runs
    std::string url;
};

/// That of --database; else of the home folder: the running one, or it is started.
/// errors  throws not_found when the home folder has none
FoundDatabase find_database(const Options& options);

}    // namespace slipway
