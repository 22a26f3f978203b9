#pragma once

#include "scheduler/store/store.h"

// Webhooks: an event of a job is written into the outbox by the transaction that moves the job
// (trigger job_follow_moves), becomes one delivery for each webhook that wants it, and is sent
// until the receiver takes it or the tries are used up. Every process of the service may do that:
// rows that another one works on are passed over, and what a process that died had claimed is due
// again after its lease. So a delivery is sent at least once, and now and then twice.
namespace slipway::store {

/// Where the events of a project's jobs go.
struct Webhook {
    std::string id{};    ///< whk_…
    std::string project{};
    std::string url{};
    std::vector<std::string> events{};    ///< words of WebhookEvent
    std::string description{};
    bool enabled = true;
    std::string created_by{};    ///< tok_…
    std::string url_set_by{};    ///< tok_…: nothing is sent once it has ended
    std::optional<Instant> previous_secret_until{};
    std::int64_t version = 1;
    Instant created_at{};
};

/// `secret`: whsec_…, kept to sign with. errors  throws exhausted when the project has
/// `webhooks_max` already (0: no limit)
Webhook create_webhook(Store& store, const Webhook& webhook, std::string_view secret,
                       std::int64_t webhooks_max);
/// Newest first. `projects` empty: all.
Page<Webhook> list_webhooks(Store& store, const std::vector<std::string>& projects,
                            const PageRequest& page);
std::optional<Webhook> find_webhook(Store& store, std::string_view id);
/// What is given is changed.
struct WebhookPatch {
    std::optional<std::string> url{};
    std::optional<std::vector<std::string>> events{};
    std::optional<std::string> description{};
    std::optional<bool> enabled{};
    std::optional<std::string> secret{};    ///< the one until now signs beside it for a while
    std::string changed_by{};               ///< tok_…
};
/// `version`: that it must have; none: any. None: there is no such webhook.
/// errors  throws VersionMismatch when it has another version
std::optional<Webhook> patch_webhook(Store& store, std::string_view id, const WebhookPatch& patch,
                                     std::optional<std::int64_t> version);
/// With its deliveries. False: there is none.
bool delete_webhook(Store& store, std::string_view id);

struct WebhookDelivery {
    std::string id{};    ///< dlv_…
    std::string webhook_id{};
    std::string type{};     ///< "job.ended"
    std::string body{};     ///< as it is sent
    std::string state{};    ///< pending, delivered, failed
    int attempts = 0;
    std::optional<int> status{};    ///< of the last answer
    std::string error{};            ///< of the last try
    std::optional<double> duration_s{};
    std::string redelivery_of{};
    Instant due_at{};
    Instant created_at{};
    std::optional<Instant> ended_at{};
};

/// Newest first. `state` empty: all.
Page<WebhookDelivery> list_webhook_deliveries(Store& store, std::string_view webhook_id,
                                              std::string_view state, const PageRequest& page);
std::optional<WebhookDelivery> find_webhook_delivery(Store& store, std::string_view webhook_id,
                                                     std::string_view id);
/// A delivery beside those of the outbox: a test, or one more of another delivery.
WebhookDelivery add_webhook_delivery(Store& store, const WebhookDelivery& delivery);

/// Deliveries of a webhook that may wait; what comes on top has failed at once.
inline constexpr int webhook_waiting_max = 10'000;

/// Turns events of the outbox into deliveries. True: there are more.
bool expand_webhook_events(Store& store);

/// A delivery to be sent now.
struct ClaimedDelivery {
    std::string id{};
    std::string webhook_id{};
    std::string type{};
    std::string body{};
    int attempts = 0;    ///< this one included
    std::string url{};
    std::string secret{};
    std::string previous_secret{};    ///< signs as well; empty: there is none
    bool allowed = true;              ///< false: the token that set the URL has ended
};

/// At most `of_webhook` of each webhook that is not in `busy`, and `limit` together. Another
/// process may take them after `lease`.
std::vector<ClaimedDelivery> claim_webhook_deliveries(Store& store,
                                                      const std::vector<std::string>& busy,
                                                      int of_webhook, int limit,
                                                      std::chrono::milliseconds lease);

struct DeliveryOutcome {
    bool delivered = false;
    std::optional<int> status{};
    std::string error{};
    double duration_s = 0;
    std::optional<std::chrono::milliseconds> again_after{};    ///< none: that was the last try
};

/// False: another try has begun since it was claimed.
bool finish_webhook_delivery(Store& store, const ClaimedDelivery& delivery,
                             const DeliveryOutcome& outcome);

/// Forgets deliveries that ended longer than `keep` ago, and of each webhook all but the newest
/// `of_webhook` that have ended. How many, at most pruned_at_once of each.
std::int64_t prune_webhook_deliveries(Store& store, std::chrono::milliseconds keep,
                                      std::int64_t of_webhook, const LeaderTerm& term);

}    // namespace slipway::store
