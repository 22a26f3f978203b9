#pragma once

#include <memory>
#include <string>

#include "scheduler/store/store.h"

namespace slipway::store {

/// At most one process holds the leadership of a name: an advisory lock on a connection of its
/// own, gone with the connection. Not a fence: what the leader commits is protected by the
/// database's constraints alone. One thread uses it.
class Leader {
public:
    Leader(const StoreOptions& options, std::string name);
    ~Leader();
    Leader(const Leader&) = delete;
    Leader& operator=(const Leader&) = delete;

    /// Takes the lock if it is free, checks that it is still held if we have it. False when another
    /// process leads or the database is down. One round trip.
    bool leads();

    /// Lets another process lead.
    void resign();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway::store
