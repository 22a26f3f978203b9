#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "scheduler/store/store.h"

namespace slipway::store {

/// How often a leader renews its lease: a write that waits for the disk.
inline constexpr std::chrono::milliseconds lead_again{2000};

/// At most one process leads a name in a database. The leader has a lease in the database's time
/// and a term, a number that grows with each change of leader. Everything a leader writes checks
/// its term in the same transaction (see LeaderTerm), so one that was frozen and replaced writes
/// nothing when it wakes. One thread uses it.
class Leader {
public:
    /// `lease`: how long a leader that hangs keeps others waiting; several times the time between
    /// two calls of lead().
    Leader(const StoreOptions& options, std::string name,
           std::chrono::milliseconds lease = std::chrono::seconds{6});
    ~Leader();
    Leader(const Leader&) = delete;
    Leader& operator=(const Leader&) = delete;

    /// Becomes the leader if there is none (any more), renews the lease if we are: the term.
    /// Nothing when another process leads or the database is down. One round trip.
    std::optional<LeaderTerm> lead();

    /// Lets another process lead at once.
    void resign();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway::store
