#pragma once

#include <chrono>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/sse/event_ring.h"
#include "server/sse/project_feed.h"

namespace slipway {

/// What was said to have changed since the last read.
struct ChangedTopics {
    std::set<std::string> job_ids{};
    std::vector<store::ObjectChange> objects{};
    bool look_at_all = false;    ///< something may have been missed

    bool empty() const { return job_ids.empty() && objects.empty() && !look_at_all; }
};

/// One event of a project's stream.
struct ProjectEvent {
    std::string project{};
    ProjectEventType type{};
    std::string data{};    ///< JSON
};

struct ProjectEvents {
    std::vector<ProjectEvent> events{};
    bool broken_off = false;    ///< before these, something could not be read
};

/// Reads what happened to the jobs of all projects, each event once. It knows a cursor of each job
/// that it has seen of late; of another job the events since it began are new. One thread at a
/// time.
class ProjectReader {
public:
    /// `feed` must outlive it. Events created after `since` are new.
    ProjectReader(const ProjectFeed& feed, Instant since) : feed_(feed), since_(since) {}

    /// Reads what has changed. `types` are those that somebody wants. `behind`: the time since the
    /// last read that looked at all. When the feed throws, `found` has what was read before, and
    /// `topics` what is left; it also has what did not fit into one read.
    void read(ChangedTopics& topics, ProjectEventTypes types, std::chrono::milliseconds behind,
              ProjectEvents& found);

    /// Forgets jobs of which nothing was heard since the call before last.
    void forget_quiet();

private:
    struct Seen {
        std::int64_t read_to = 0;
        bool of_late = true;
    };
    void find_changed(ChangedTopics& topics, std::chrono::milliseconds behind,
                      ProjectEvents& found);

    const ProjectFeed& feed_;
    Instant since_;
    Instant next_since_{};                          // of the last forget_quiet
    std::unordered_map<std::string, Seen> seen_;    // by job
};

}    // namespace slipway
