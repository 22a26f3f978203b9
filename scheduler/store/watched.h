#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "scheduler/store/store.h"

namespace slipway::store {

/// What attempts report is stored twice a second, and ten times a second where somebody follows it:
/// who does says so here, again and again while he does.
inline constexpr std::chrono::seconds watched_for{15};
/// How often to say it again.
inline constexpr std::chrono::seconds watch_again{5};

/// Of a job or of what jobs belong to (a sweep, a cross-validation) the subject is its id.
inline constexpr const char* watch_all = "*";
std::string watched_project(std::string_view project);

/// For watched_for from now on. Agents learn it with their next look (HostAttempt::is_watched).
void keep_watched(Store& store, const std::vector<std::string>& subjects);

}    // namespace slipway::store
