#pragma once

#include <cstddef>

#include "api/base/clock.h"
#include "scheduler/agent/agent.h"

namespace slipway {

/// Removes what nothing refers to, the paths that the store lists: a bounded amount of
/// work. True when there is more that can be done at once.
/// errors  throws unavailable when the database is down
bool remove_garbage(store::Store& store, const AgentOptions& options);

/// Removes old run folders: those that nobody lives in and that were last written to before
/// `keep_run_folders`. Returns how many went.
std::size_t remove_old_run_folders(const AgentOptions& options, const Clock& clock);

}    // namespace slipway
