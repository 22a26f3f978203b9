#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "server/http/message.h"
#include "server/sse/event_ring.h"
#include "server/sse/project_feed.h"

namespace slipway {

struct ProjectHubOptions {
    std::string name;                        ///< evt_…: begins the ids of events
    EventRing::Limits ring = {};             ///< what streams may come back to
    std::chrono::milliseconds pause{50};     ///< between two reads, so that events go together
    std::chrono::milliseconds poll{5000};    ///< the longest an event stays unseen without a notice
    std::chrono::milliseconds keep{60000};       ///< read on without any stream: browsers come back
    std::chrono::milliseconds recheck{10000};    ///< how often tokens are asked about
    std::chrono::milliseconds forget{600000};    ///< jobs without events
    std::size_t streams_per_owner = 64;          ///< 429 above
    std::size_t take_bytes = 64 * 1024;          ///< given to a client at a time
};

/// Feeds the streams of projects: all events of all jobs that a caller sees, and what becomes of
/// datasets, splits and deleted objects.
///
/// What happened is read once for all streams, into a ring (event_ring.h), and only while there are
/// streams. A stream is a number in the ring: an idle one costs nothing, a slow one that the ring
/// has left behind gets a `gap` and goes on with the newest. All functions are safe from every
/// thread.
class ProjectHub {
public:
    /// `clock` must outlive the hub.
    ProjectHub(ProjectFeed feed, ProjectHubOptions options, const Clock& clock = system_clock());
    /// As stop().
    ~ProjectHub();
    ProjectHub(const ProjectHub&) = delete;
    ProjectHub& operator=(const ProjectHub&) = delete;

    struct Subscription {
        std::string owner{};                          ///< token id
        std::vector<std::string> owner_projects{};    ///< empty: all
        std::string project{};                        ///< empty: all of the owner's
        ProjectEventTypes types = 0;
        std::string last_event_id{};    ///< empty: from now on
    };
    /// A new stream. It sees what is committed after the call; nothing is lost between the call
    /// and a read of the same objects that begins after it.
    /// errors  throws ProblemError 400 `bad_event_id`, 429 `too_many_streams`; Error{unavailable}
    std::shared_ptr<EventSource> subscribe(Subscription subscription);

    /// A topic of the store was heard.
    void hear(const std::string& topic);

    /// Ends the streams of owners whose rights have changed, soon. Happens by itself every
    /// ProjectHubOptions::recheck.
    void recheck_owners();

    std::size_t stream_count() const;

    /// Ends the thread. Streams stay silent from now on.
    void stop();

private:
    class Stream;
    struct State;
    // Shared with the streams: the server may drop the last of them after the hub has gone.
    std::shared_ptr<State> state_;
};

}    // namespace slipway
