// One thread looks at the database: it turns events of the outbox into deliveries and claims those
// that are due, as many as senders are free. The senders each post one message at a time. A claim
// is a lease: a process that ends before it has noted how a message was taken leaves a delivery
// that is due again, so a message may come twice and never not at all. A receiver that is slow or
// away costs at most `senders_of_webhook` senders.
#include "server/webhooks/dispatcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "api/base/id.h"
#include "api/base/log.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/webhooks.h"
#include "server/webhooks/signature.h"

namespace slipway {

namespace {

using Milliseconds = std::chrono::milliseconds;

/// Beyond the time of a message: for names that are looked up slowly, and for the database.
constexpr Milliseconds lease_margin{20'000};

double random_fraction() {
    std::array<std::uint8_t, 2> bytes;
    random_bytes(bytes);
    return (bytes[0] * 256 + bytes[1]) / 65535.0;
}

bool is_taken(int status) {
    return status >= 200 && status < 300;
}

std::string status_error(int status) {
    if (is_taken(status)) return {};
    if (status >= 300 && status < 400)
        return fmt::format("the receiver answered {}: redirects are not followed", status);
    return fmt::format("the receiver answered {}", status);
}

}    // namespace

std::optional<Milliseconds> retry_delay(const WebhookOptions& options, int tries, double random) {
    if (tries >= options.tries_max) return std::nullopt;
    const double delay = std::min(double(options.retry_first.count()) * std::pow(3, tries - 1),
                                  double(options.retry_max.count()));
    return Milliseconds(std::int64_t(delay * (0.8 + 0.4 * random)));
}

struct WebhookDispatcher::Parts {
    Parts(store::Store& store_, WebhookOptions options_, const Clock& clock_)
        : store(store_),
          options(std::move(options_)),
          clock(clock_),
          client(options.allowed, options.limits) {}

    store::Store& store;
    const WebhookOptions options;
    const Clock& clock;
    OutgoingClient client;

    mutable std::mutex mutex;
    std::condition_variable changed;
    // Guarded by mutex:
    bool stopping = false;
    bool woken = true;
    std::deque<store::ClaimedDelivery> claimed;
    std::map<std::string, int> under_way;    ///< by webhook: claimed and not finished
    WebhookCounts counts;

    // The looking thread's own:
    bool failing = false;
    Tick next_prune{};

    std::vector<std::thread> threads;

    void look() {
        while (wait()) {
            try {
                while (store::expand_webhook_events(store) && !is_stopping()) {
                }
                claim();
                prune();
                failing = false;
            } catch (const Error& error) {
                // One line for each outage of the database.
                if (!failing) log_warn("webhooks wait", {{"reason", error.what()}});
                failing = true;
            }
        }
    }

    bool is_stopping() const {
        const std::scoped_lock lock(mutex);
        return stopping;
    }

    /// False: it is time to end.
    bool wait() {
        std::unique_lock lock(mutex);
        changed.wait_for(lock, options.poll, [&] { return stopping || woken; });
        woken = false;
        return !stopping;
    }

    void prune() {
        const Tick now = clock.tick();
        if (now < next_prune) return;
        const std::int64_t rows =
            store::prune_webhook_deliveries(store, options.keep, options.keep_of_webhook, {});
        next_prune = rows == store::pruned_at_once ? now : now + options.prune_every;
    }

    void claim() {
        std::vector<std::string> busy;
        int free = options.senders;
        {
            const std::scoped_lock lock(mutex);
            for (const auto& [webhook, count] : under_way) {
                free -= count;
                if (count >= options.senders_of_webhook) busy.push_back(webhook);
            }
        }
        if (free <= 0) return;
        auto found = store::claim_webhook_deliveries(store, busy, options.senders_of_webhook, free,
                                                     options.limits.total + lease_margin);
        const std::scoped_lock lock(mutex);
        for (store::ClaimedDelivery& one : found) {
            ++under_way[one.webhook_id];
            claimed.push_back(std::move(one));
        }
        changed.notify_all();
    }

    void send_all() {
        while (auto delivery = next()) {
            const store::DeliveryOutcome outcome = send(*delivery);
            note(*delivery, outcome);
            const std::scoped_lock lock(mutex);
            const auto count = under_way.find(delivery->webhook_id);
            if (--count->second == 0) under_way.erase(count);
            woken = true;    // a sender is free
            changed.notify_all();
        }
    }

    std::optional<store::ClaimedDelivery> next() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || !claimed.empty(); });
        // What is claimed and not begun is due again after the lease.
        if (stopping) return std::nullopt;
        store::ClaimedDelivery first = std::move(claimed.front());
        claimed.pop_front();
        return first;
    }

    store::DeliveryOutcome send(const store::ClaimedDelivery& delivery) {
        if (!delivery.allowed)
            return {.error = "the token that set the URL of the webhook is no longer valid"};
        const Result<OutgoingUrl> url = parse_outgoing_url(delivery.url);
        if (!url) return {.error = url.error().what()};
        const auto now = std::chrono::floor<std::chrono::seconds>(clock.now());
        std::vector<std::string> secrets{delivery.secret};
        if (!delivery.previous_secret.empty()) secrets.push_back(delivery.previous_secret);
        const OutgoingAnswer answer = client.post(
            *url,
            webhook_headers(secrets, delivery.id, now.time_since_epoch().count(), delivery.body),
            delivery.body);
        store::DeliveryOutcome outcome{
            .status = answer.status, .error = answer.error, .duration_s = answer.seconds};
        if (answer.status) outcome.error = status_error(*answer.status);
        outcome.delivered = answer.status && is_taken(*answer.status);
        const bool gone = answer.status == 410;
        if (!outcome.delivered && !gone)
            outcome.again_after = retry_delay(options, delivery.attempts, random_fraction());
        return outcome;
    }

    void note(const store::ClaimedDelivery& delivery, const store::DeliveryOutcome& outcome) {
        try {
            if (!store::finish_webhook_delivery(store, delivery, outcome)) return;
        } catch (const Error& error) {
            log_warn("how a webhook was taken was not noted; it will be sent again",
                     {{"delivery_id", delivery.id}, {"reason", error.what()}});
            return;
        }
        const bool ended = !outcome.delivered && !outcome.again_after;
        if (ended)
            log_warn("a webhook was not delivered", {{"webhook_id", delivery.webhook_id},
                                                     {"delivery_id", delivery.id},
                                                     {"tries", delivery.attempts},
                                                     {"error", outcome.error}});
        const std::scoped_lock lock(mutex);
        ++(outcome.delivered ? counts.delivered : ended ? counts.failed : counts.retried);
    }

    void stop() {
        {
            const std::scoped_lock lock(mutex);
            stopping = true;
        }
        changed.notify_all();
        for (std::thread& thread : threads)
            thread.join();
    }
};

WebhookDispatcher::WebhookDispatcher(store::Store& store, WebhookOptions options,
                                     const Clock& clock)
    : parts_(std::make_unique<Parts>(store, std::move(options), clock)) {
    parts_->threads.emplace_back([this] { parts_->look(); });
    for (int i = 0; i < parts_->options.senders; ++i)
        parts_->threads.emplace_back([this] { parts_->send_all(); });
}

WebhookDispatcher::~WebhookDispatcher() {
    parts_->stop();
}

void WebhookDispatcher::wake() {
    {
        const std::scoped_lock lock(parts_->mutex);
        parts_->woken = true;
    }
    parts_->changed.notify_all();
}

WebhookCounts WebhookDispatcher::counts() const {
    const std::scoped_lock lock(parts_->mutex);
    return parts_->counts;
}

}    // namespace slipway
