#pragma once

#include <map>

#include "scheduler/store/store.h"

namespace slipway::store {

/// The word of a job that runs on hosts of every pool; no pool has this name.
inline constexpr std::string_view any_pool = "any";

/// The pools that hosts are of, living or not, by name.
std::vector<std::string> list_pools(Store& store);

/// The pool of jobs that name none; empty: any.
std::string find_default_pool(Store& store);

/// Jobs that are queued from now on and name no pool wait for this one; empty: for any.
void set_default_pool(Store& store, std::string_view pool);

/// The pool that a job waits for which names this one, or none: empty: any.
std::string resolve_pool(Store& store, std::string_view named);

/// Seconds that jobs run at most which state no limit of time, by their pool; that of any_pool is
/// of jobs that run on all hosts.
using TimeLimits = std::map<std::string, double>;
TimeLimits list_time_limits(Store& store);

/// Jobs that are submitted from now on have these limits and no others.
void set_time_limits(Store& store, const TimeLimits& limits);

/// That of a job which names this pool, or none (empty).
std::optional<double> find_time_limit(Store& store, std::string_view named);

/// Ready jobs of each pool, of these projects (empty: of all); of each project at most 1,000 are
/// counted, so that the cost does not depend on how many wait. Those of no pool are left out.
std::map<std::string, std::int64_t> count_ready_of_pools(
    Store& store, const std::vector<std::string>& projects = {});

}    // namespace slipway::store
