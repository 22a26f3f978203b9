#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scheduler/store/events.h"

namespace slipway {

/// Where the streams of projects learn what happened: the store (store_feed.h), or a test. All may
/// block and may throw Error.
struct ProjectFeed {
    /// The time by which events are dated.
    std::function<Instant()> now;
    /// As store::list_changes_of_jobs.
    std::function<std::vector<store::JobChanges>(const std::vector<store::EventCursor>&,
                                                 Instant since,
                                                 const std::vector<std::string>& types)>
        read;
    /// Jobs with events in the last `window`, at most so many.
    std::function<std::vector<store::EventHead>(std::chrono::milliseconds window, int limit)>
        changed;
    /// As store::list_token_projects.
    std::function<std::map<std::string, std::vector<std::string>>(
        const std::vector<std::string>& token_ids)>
        projects_of;
    /// Told the projects of which somebody follows what jobs report, again and again; none: of all.
    std::function<void(const std::vector<std::string>& projects)> watch = {};
};

}    // namespace slipway
