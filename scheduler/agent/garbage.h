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

/// Removes copies of decoded datasets: those that nobody has opened for a while, and, least lately
/// used first, what is above the most that they may have together. Executors that have one mapped
/// go on. Returns how many.
std::size_t remove_old_copies(const AgentOptions& options, const Clock& clock);

}    // namespace slipway
