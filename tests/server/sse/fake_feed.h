#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "server/sse/hub.h"

namespace slipway {

/// Jobs and their events in memory, with the store's rules. Safe from every thread. Must outlive
/// the hub.
class FakeFeed {
public:
    /// The functions for a hub. `announces`: false leaves the hub to its poll.
    EventFeed feed(bool announces = true);

    /// The next event of the job; "end" ends it.
    void append(const std::string& job_id, const std::string& type, const std::string& body = "{}");
    /// Drops events up to `seq`, as a retention rule would.
    void trim(const std::string& job_id, std::int64_t seq);
    /// While true, reading throws `unavailable`.
    void set_down(bool down);
    int reads() const;

private:
    struct Job {
        std::vector<store::Event> events;
        std::int64_t last = 0;
        bool ended = false;
    };
    std::vector<store::Event> read(const std::vector<store::EventCursor>& cursors, int limit);

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    // guarded by mutex_
    std::map<std::string, Job> jobs_;
    std::set<std::string> heard_;
    bool woken_ = false;
    bool down_ = false;
    int reads_ = 0;
};

}    // namespace slipway
