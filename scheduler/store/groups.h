#pragma once

#include "scheduler/store/store.h"

namespace slipway::store {

/// Jobs of a project, of which so many run at a time.
struct Group {
    std::string project;
    std::string name;
    std::optional<int> jobs_max;    ///< none: no limit
    std::int64_t running = 0;       ///< they hold cores
    std::int64_t ready = 0;         ///< they wait and may start but for the limit: counted to 1,001
};

/// The groups of a project, by name.
Page<Group> list_groups(Store& store, std::string_view project, const PageRequest& page);
std::optional<Group> find_group(Store& store, std::string_view project, std::string_view name);

/// The limit from now on; running jobs above it go on. Makes the group when there is none: throws
/// exhausted when its project has 200 already.
void set_group_limit(Store& store, std::string_view project, std::string_view name, int jobs_max);

/// Forgets groups that nobody has changed for `keep` and that have no queued job; one whose job
/// comes back has the limit of that job's spec again. At most pruned_at_once; how many.
std::int64_t prune_groups(Store& store, std::chrono::milliseconds keep,
                          const LeaderTerm& term = {});

}    // namespace slipway::store
