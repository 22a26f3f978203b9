#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/store/store.h"

namespace slipway::store {

/// Hears what Store::announce says, in this process and others, on a connection of its own.
/// Only shortens a wait: whoever uses it polls as well, since nothing is heard while the database
/// is down. One thread calls wait(); wake() is safe from every thread.
class Listener {
public:
    explicit Listener(const StoreOptions& options);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    /// Topics heard since the last call, each once; returns at once when there are some, else when
    /// one comes, wake() is called or `timeout` has passed (then empty). Connects by itself, and
    /// again after the database was away; the first wait after a (re)connect returns `missed` as
    /// its only topic: something may have been missed, look at everything. Never throws because
    /// the database is down.
    std::vector<std::string> wait(std::chrono::milliseconds timeout);

    /// Ends a running or the next wait().
    void wake();

    static constexpr std::string_view missed = "*";

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway::store
