#pragma once

#include <algorithm>
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "api/base/clock.h"
#include "api/base/log_rate.h"
#include "server/http/byte_budget.h"
#include "server/http/client_counts.h"
#include "server/http/fair_lane.h"
#include "server/http/gathering_lane.h"
#include "server/http/metrics.h"
#include "server/http/pending_connections.h"
#include "server/http/router.h"
#include "server/http/server.h"
#include "server/http/transfer_permit.h"
#include "server/http/wire.h"

namespace slipway {

/// What all connections of a server share. Constant after construction, but for the atomics.
struct ServerCore {
    ServerCore(ServerOptions options_, Router router_, HttpMetrics& metrics_, const Clock& clock_)
        : options(std::move(options_)),
          router(std::move(router_)),
          metrics(metrics_),
          clock(clock_),
          body_budget(options.limits.buffered_body_bytes,
                      [this](double bytes) { metrics.buffered_bodies_changed(bytes); }),
          answer_budget(options.limits.buffered_answer_bytes,
                        [this](double bytes) { metrics.buffered_answers_changed(bytes); }),
          request_lines(options.limits.log_lines_per_s, options.limits.log_lines_burst),
          workers(options.worker_threads),
          reserved(options.reserved_threads),
          worker_lane(workers, limits_of(options.worker_threads)),
          reserved_lane(reserved, limits_of(options.reserved_threads)) {
        for (const Route& route : router.routes())
            if (route.gather) gathering.try_emplace(&route, workers, route.gather);
    }

    /// Of a lane with `threads` threads. More of one client than two for each CPU would only slow
    /// others down.
    FairLaneLimits limits_of(std::size_t threads) const {
        const std::size_t cpus = std::thread::hardware_concurrency();
        return {.threads = threads,
                .of_client = std::max<std::size_t>(4, 2 * cpus),
                .waiting = options.worker_queue_max};
    }

    const ServerOptions options;
    const Router router;
    HttpMetrics& metrics;
    const Clock& clock;
    ByteBudget body_budget;
    ByteBudget answer_budget;
    LogRate request_lines;
    PendingConnections pending;
    ClientCounts forwarded_clients;
    ClientCounts direct_clients;    // of trusted addresses, when they ask for themselves
    asio::thread_pool workers;      // run handlers
    asio::thread_pool reserved;     // run those of Lane::reserved
    FairLane worker_lane;
    FairLane reserved_lane;
    asio::thread_pool disk{1};    // reads and writes files, so that no I/O thread waits for a disk
    std::atomic<std::size_t> waiting_to_gather{0};
    std::atomic<bool> stopping{false};    // every answer from now on is its connection's last
    std::map<const Route*, GatheringLane> gathering;    // of the routes that gather
};

/// One client's connection. All but `stop_soon` and `cut` is used on the connection's strand only.
struct Connection : std::enable_shared_from_this<Connection> {
    Connection(ServerCore& core_, std::unique_ptr<Wire> wire_, asio::ip::address peer_,
               bool reserved_)
        : core(core_),
          wire(std::move(wire_)),
          peer(std::move(peer_)),
          reserved(reserved_),
          direct(core_.direct_clients) {}

    ServerCore& core;    // outlives every connection
    std::unique_ptr<Wire> wire;
    const asio::ip::address peer;          // the other end: a client or a proxy
    const bool reserved;                   // above a limit: for one request of Lane::io
    std::string buffer;                    // bytes received and not yet dealt with
    bool idle = false;                     // waits for the first byte of a request
    bool identified = false;               // a request of it was authenticated
    bool pending = false;                  // in core.pending, or just taken out of it
    std::function<void()> on_stop = {};    // set while an event stream waits
    ClientTicket direct;                   // entered once a trusted address has asked for itself

    /// Ends a reserved or a pending one now, telling a client of a reserved one that has not asked
    /// yet to come back. From any thread.
    void make_room();
    /// Ends it as soon as what is under way is done: an idle one now. From any thread.
    void stop_soon();
    /// Ends it now. From any thread.
    void cut();
};

/// How many connections an address may have that asks for itself.
std::size_t own_connections_max(const asio::ip::address& peer, const HttpLimits& limits);

/// Reads at least one byte more into the buffer, at most `bytes_max`. False: `error` says why.
asio::awaitable<bool> read_more(Connection& connection, std::size_t bytes_max, ErrorOfIo& error);

/// What bounds a long write.
struct WriteBounds {
    std::optional<double> stall_s = {};        ///< of each piece; by default write_stall_s
    const TransferPermit* permit = nullptr;    ///< once it has ended, no piece follows
};

/// Writes all of it, in pieces of 64 KiB.
asio::awaitable<bool> write_all(Connection& connection, std::string_view bytes,
                                WriteBounds bounds = {});

/// Closes so that the client sees the last answer: says that nothing follows, then drops what still
/// comes for a while. Closing with unread bytes would make the kernel throw the answer away.
asio::awaitable<void> part(Connection& connection);

/// Runs `work` where the lane says, in turn with other clients; false at once when too many wait
/// there.
asio::awaitable<bool> on_lane(ServerCore& core, Lane lane, FairLane::Client client,
                              const FairLane::Work& work);

/// Handles the request with others that wait for the same route; false at once when too many wait.
/// `handle` and `answer` do not throw.
asio::awaitable<bool> on_gathering_lane(ServerCore& core, GatheringLane& lane,
                                        const std::function<void(Gathering&)>& handle,
                                        const std::function<void()>& answer);

/// Runs `work` (which does not throw) on the disk thread.
asio::awaitable<void> on_disk(ServerCore& core, const std::function<void()>& work);

}    // namespace slipway
