#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "api/base/clock.h"
#include "scheduler/store/store.h"
#include "server/http/outgoing.h"

namespace slipway {

struct WebhookOptions {
    std::vector<Network> allowed = {};    ///< beside public addresses
    OutgoingLimits limits = {};
    std::chrono::milliseconds poll{250};             ///< how often the outbox is looked at
    std::chrono::milliseconds retry_first{5'000};    ///< then three times as long each time
    std::chrono::milliseconds retry_max = std::chrono::hours{6};
    int tries_max = 10;                                        ///< over some 11 hours
    std::chrono::milliseconds keep = std::chrono::days{30};    ///< of deliveries that ended
    std::int64_t keep_of_webhook = 1000;                       ///< the newest that ended
    std::chrono::milliseconds prune_every{60'000};
    int senders = 16;              ///< messages that are sent at a time
    int senders_of_webhook = 2;    ///< so that slow receivers leave some for others
};

/// How long to wait after the failed try number `tries`, from 1: the delay, `random` (0 to 1) of it
/// taken off or added up to a fifth. None: no try is left.
std::optional<std::chrono::milliseconds> retry_delay(const WebhookOptions& options, int tries,
                                                     double random);

/// What the dispatcher did since it was made; for /metrics.
struct WebhookCounts {
    std::int64_t delivered = 0;
    std::int64_t retried = 0;
    std::int64_t failed = 0;
};

/// Sends what the outbox holds: turns events into deliveries and posts them, each until its
/// receiver answers 2xx or its tries are used up. Several processes on one database share the work.
/// Redirects count as failures; 410 ends a delivery at once.
class WebhookDispatcher {
public:
    /// Starts the threads. `store` and `clock` outlive it.
    WebhookDispatcher(store::Store& store, WebhookOptions options, const Clock& clock);
    /// Ends what is under way, for at most the time limit of a message, and joins.
    ~WebhookDispatcher();
    WebhookDispatcher(const WebhookDispatcher&) = delete;
    WebhookDispatcher& operator=(const WebhookDispatcher&) = delete;

    /// There may be something to send now. Safe from every thread.
    void wake();
    WebhookCounts counts() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
