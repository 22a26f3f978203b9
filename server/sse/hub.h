#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "scheduler/store/events.h"
#include "scheduler/store/rights.h"
#include "server/http/message.h"

namespace slipway {

/// Where the hub learns what happened: the store (store_feed.h), or a test. All but `wake` may
/// block and may throw Error; the hub then tries again at its next poll.
struct EventFeed {
    /// The next events behind each cursor, at most `limit_per_job` of each, ordered by job and seq.
    /// No job is named twice.
    std::function<std::vector<store::Event>(const std::vector<store::EventCursor>&,
                                            int limit_per_job)>
        read;
    std::function<std::optional<store::EventHead>(const std::string& job_id)> head;
    /// Job ids that changed since the last call, "*" for "look at all"; waits at most so long for
    /// the first one. Called by one thread only.
    std::function<std::vector<std::string>(std::chrono::milliseconds)> wait;
    /// Ends a `wait`. From any thread.
    std::function<void()> wake;
    /// Those of the rights to see a job that no longer exist. None: all stay for good.
    std::function<std::vector<store::Right>(const std::vector<store::Right>&)> lost = {};
    /// Told which jobs have streams, when one begins and again and again: what they report is to be
    /// stored soon. None: nobody asks.
    std::function<void(const std::vector<std::string>& job_ids)> watch = {};
};

struct HubOptions {
    std::chrono::milliseconds poll{500};    ///< the longest an event stays unseen without a notice
    int page_events = 500;                  ///< read at a time for one job
    std::size_t buffer_bytes = 256 * 1024;    ///< events read ahead for one stream
    /// Of these bytes of one stream each has so many without asking; what is above is taken from
    /// `shared_bytes` of all streams, until the client has taken it.
    std::size_t own_bytes = 32 * 1024;
    std::size_t shared_bytes = std::size_t{64} << 20;
    std::size_t streams_per_owner = 64;          ///< 429 above
    std::chrono::milliseconds recheck{10000};    ///< how often owners are asked about
};

/// Feeds every event stream: one thread hears what changed, one reads events and hands them out.
///
/// A stream is a cursor in the stored events plus a bounded buffer, not a queue of everything that
/// happened: who reads slowly is read for slowly, loses nothing, repeats nothing, and costs others
/// nothing (streams at different places of a job take turns). Events that the store has dropped
/// meanwhile become one `gap` event. All functions are safe from every thread.
class Hub {
public:
    /// `clock` must outlive the hub.
    explicit Hub(EventFeed feed, HubOptions options = {}, const Clock& clock = system_clock());
    /// As stop().
    ~Hub();
    Hub(const Hub&) = delete;
    Hub& operator=(const Hub&) = delete;

    struct Subscription {
        std::string job_id;
        std::int64_t after_seq = 0;
        std::vector<std::string> types = {};    ///< empty: all; `gap` and `end` always come
        std::string owner = {};                 ///< token id: who the cap counts for
        std::string project = {};               ///< of the job: what the owner has to see
        /// The stream ends with this event when the job had ended already; otherwise with `end`.
        std::optional<std::int64_t> last_seq = {};
        /// An `end` up to here ends nothing: the object was gone on with, or `last_seq` says so.
        std::int64_t known_seq = 0;
    };
    /// A new stream. It may outlive the hub (nothing comes any more then). Dropping the last
    /// pointer to it closes it; once closed it no longer counts for its owner.
    /// errors  throws ProblemError 429 `too_many_streams`
    std::shared_ptr<EventSource> subscribe(Subscription subscription);

    /// From the feed.
    std::optional<store::EventHead> head(const std::string& job_id) const;

    std::size_t stream_count() const;

    /// Ends the streams of owners who have lost the right to read, soon. Happens by itself every
    /// HubOptions::recheck: another process may have taken a right away, and tokens expire.
    void recheck_owners();

    /// Ends both threads. Streams stay silent from now on.
    void stop();

private:
    class Stream;
    struct State;
    // Shared with the streams: the server may drop the last of them after the hub has gone.
    std::shared_ptr<State> state_;
};

}    // namespace slipway
