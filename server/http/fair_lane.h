#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

namespace slipway {

namespace asio = boost::asio;

struct FairLaneLimits {
    std::size_t threads = 1;      ///< that the pool has
    std::size_t of_client = 1;    ///< threads of one client at most
    std::size_t waiting = 1;      ///< requests of all clients
};

/// The requests that wait for a pool of threads, shared among clients. Safe from every thread.
class FairLane {
public:
    /// A client, by a hash of what tells it from others.
    using Client = std::size_t;
    /// Handles one request; does not throw. `waited`: no thread was free when it was added.
    using Work = std::function<void(bool waited)>;

    /// `threads` outlives it, and has ended its work before the lane ends.
    FairLane(asio::thread_pool& threads, FairLaneLimits limits)
        : threads_(threads), limits_(limits) {}

    /// Runs `work` once a thread is free for its client. False: too many wait.
    bool add(Client client, Work work);

    /// How many have been added.
    std::uint64_t added() const;

private:
    struct Waiting {
        std::uint64_t number = 0;    // of all that were added
        Work work;
        bool waited = false;
    };
    struct Requests {
        std::size_t running = 0;
        std::deque<Waiting> waiting;
    };
    struct Begun {
        Client client = 0;
        Waiting request;
    };

    std::optional<Begun> begin_next();
    void begin_all();
    void run(Begun begun);
    void end(Client client);

    asio::thread_pool& threads_;
    const FairLaneLimits limits_;
    mutable std::mutex mutex_;
    // guarded by mutex_
    std::map<Client, Requests> clients_;    // that have a request
    std::size_t running_ = 0;
    std::size_t waiting_ = 0;
    std::uint64_t added_ = 0;
};

}    // namespace slipway
