#pragma once

#include <vector>

#include "scheduler/store/store.h"
#include "server/main/findings.h"
#include "server/main/options.h"

namespace slipway {

/// What a host needs of this machine: home, store, dataset roots, programs, user, locks and sockets
/// in the home folder, the way to the service, and with a `store` (not null) the database and its
/// clock. Makes nothing but files that it removes.
std::vector<Finding> node_findings(const Options& options, store::Store* store);

}    // namespace slipway
