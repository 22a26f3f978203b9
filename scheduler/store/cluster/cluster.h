#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "scheduler/store/cluster/log_limit.h"

namespace slipway::store {

struct ClusterOptions {
    std::filesystem::path home{};    ///< the cluster lives in home/postgres
    /// Folder with initdb and postgres; empty: the newest under /usr/lib/postgresql.
    std::filesystem::path tools{};
    std::chrono::milliseconds start_timeout{60000};    ///< crash recovery included
    std::chrono::milliseconds stop_timeout{20000};     ///< then SIGQUIT
    LogLimit log_limit{};
    bool durable = true;    ///< false for tests only: fsync off
};

/// The private PostgreSQL cluster of a home folder: made when absent, started, watched, stopped.
/// Unix socket only. As root it runs as the user `postgres`. One per home folder.
class Cluster {
public:
    /// Returns once the cluster answers. A postmaster of this data folder that still runs (slipwayd
    /// was killed) is adopted; a crashed one recovers by itself. A thread then watches it and
    /// starts it again when it dies. Throws Error{invalid_argument} with the way out: a home folder
    /// that the user postgres cannot reach, a cluster of another major version, no PostgreSQL
    /// installed; Error{conflict} when another slipwayd uses this home; Error{unavailable} when it
    /// does not start (the message ends with its log's end).
    explicit Cluster(ClusterOptions options);
    /// Stops it if that was not done.
    ~Cluster();
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// For StoreOptions::database; the database `slipway` exists.
    std::string database_url() const;

    /// Ends the watch and the cluster: fast shutdown, after stop_timeout immediate. Repeatable.
    void stop();

    /// Process id of the postmaster, 0 while it is down. Safe from every thread.
    int pid() const;

    /// Ends the watch but leaves the cluster running, for a hand-over; the destructor then does
    /// nothing.
    void release();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}    // namespace slipway::store
