#include "scheduler/store/webhooks.h"

#include <fmt/core.h>

#include "api/base/id.h"
#include "api/base/plural.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/pool.h"
#include "scheduler/store/prune.h"
#include "scheduler/store/queries.h"
#include "scheduler/store/text.h"

namespace slipway::store {

namespace {

/// After another one was made: receivers learn it in this time.
constexpr std::chrono::milliseconds previous_secret_signs = std::chrono::hours{24};
constexpr int events_at_once = 200;
/// A few webhooks for each event; more than these are made in several rounds.
constexpr int deliveries_at_once = 2000;

Webhook read_webhook(const Row& row) {
    return {.id = row.text("id"),
            .project = row.text("project"),
            .url = row.text("url"),
            .events = row.texts("events"),
            .description = row.text("description"),
            .enabled = row.flag("enabled"),
            .created_by = row.text("created_by"),
            .url_set_by = row.text("url_set_by"),
            .previous_secret_until = row.maybe_time("previous_secret_until"),
            .version = row.integer("version"),
            .created_at = row.time("created_at")};
}

WebhookDelivery read_delivery(const Row& row) {
    return {.id = row.text("id"),
            .webhook_id = row.text("webhook_id"),
            .type = row.text("type"),
            .body = row.text("body"),
            .state = row.text("state"),
            .attempts = row.small("attempts"),
            .status = row.maybe_small("status"),
            .error = row.text("error"),
            .duration_s = row.maybe_number("duration_s"),
            .redelivery_of = row.text("redelivery_of"),
            .due_at = row.time("due_at"),
            .created_at = row.time("created_at"),
            .ended_at = row.maybe_time("ended_at")};
}

}    // namespace

Webhook create_webhook(Store& store, const Webhook& webhook, std::string_view secret,
                       std::int64_t webhooks_max) {
    transact(store.pool(), [&](Transaction& transaction) {
        transaction.run(queries::lock_project_webhooks, {webhook.project});
        const Rows rows = transaction.run(queries::count_project_webhooks, {webhook.project});
        if (webhooks_max > 0 && rows[0].integer("webhooks") >= webhooks_max)
            throw Error{ErrorCode::exhausted,
                        fmt::format("project {} has {}, which is the maximum "
                                    "(--webhooks-max); delete one",
                                    webhook.project, counted(webhooks_max, "webhook"))};
        transaction.commit({{&queries::insert_webhook,
                             {webhook.id, webhook.project, webhook.url, webhook.events, secret,
                              webhook.created_by, webhook.description}}});
    });
    return find_webhook(store, webhook.id).value();
}

Page<Webhook> list_webhooks(Store& store, const std::vector<std::string>& projects,
                            const PageRequest& page) {
    std::string scope = "webhooks";
    for (const std::string& project : projects)
        scope += "\n" + project;
    const Rows rows = read(store.pool(), queries::list_webhooks,
                           {Param::or_null(projects), place_of(scope, page), rows_to_ask(page)});
    return make_page<Webhook>(rows, page, scope, read_webhook, place_of_id);
}

std::optional<Webhook> find_webhook(Store& store, std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_webhook, {id});
    if (rows.empty()) return std::nullopt;
    return read_webhook(rows[0]);
}

std::optional<Webhook> patch_webhook(Store& store, std::string_view id, const WebhookPatch& patch,
                                     std::optional<std::int64_t> version) {
    const Rows rows = write(
        store.pool(), queries::patch_webhook,
        {id, version, patch.url, patch.events ? Param(*patch.events) : Param(std::nullopt),
         patch.description, patch.enabled, patch.secret, patch.changed_by, previous_secret_signs});
    if (!rows.empty()) return read_webhook(rows[0]);
    const auto now = version ? find_webhook(store, id) : std::nullopt;
    if (now) throw VersionMismatch(now->version);
    return std::nullopt;
}

bool delete_webhook(Store& store, std::string_view id) {
    return write(store.pool(), queries::delete_webhook, {id}).affected() > 0;
}

Page<WebhookDelivery> list_webhook_deliveries(Store& store, std::string_view webhook_id,
                                              std::string_view state, const PageRequest& page) {
    const std::string scope = fmt::format("webhook deliveries {} {}", webhook_id, state);
    const Rows rows = read(store.pool(), queries::list_webhook_deliveries,
                           {webhook_id, Param::or_null(state), place_of(scope, page),
                            rows_to_ask(page), page_bytes_max});
    return make_cut_page<WebhookDelivery>(rows, page, scope, read_delivery, place_of_id);
}

std::optional<WebhookDelivery> find_webhook_delivery(Store& store, std::string_view webhook_id,
                                                     std::string_view id) {
    const Rows rows = read(store.pool(), queries::find_webhook_delivery, {webhook_id, id});
    if (rows.empty()) return std::nullopt;
    return read_delivery(rows[0]);
}

WebhookDelivery add_webhook_delivery(Store& store, const WebhookDelivery& delivery) {
    write(store.pool(), queries::insert_webhook_delivery,
          {delivery.id, delivery.webhook_id, delivery.type, delivery.body,
           Param::or_null(delivery.redelivery_of)});
    return find_webhook_delivery(store, delivery.webhook_id, delivery.id).value();
}

bool expand_webhook_events(Store& store) {
    // Ids cost more than the look whether any are needed.
    if (read(store.pool(), queries::count_webhook_events, {1})[0].integer("events") == 0)
        return false;
    std::vector<std::string> ids;
    for (int i = 0; i < deliveries_at_once; ++i)
        ids.push_back(new_id("dlv"));
    const Rows rows = write(store.pool(), queries::expand_webhook_events,
                            {events_at_once, ids, webhook_waiting_max});
    return rows[0].integer("events") == events_at_once ||
           (rows[0].integer("more_ids") > 0 && rows[0].integer("events") > 0);
}

std::vector<ClaimedDelivery> claim_webhook_deliveries(Store& store,
                                                      const std::vector<std::string>& busy,
                                                      int of_webhook, int limit,
                                                      std::chrono::milliseconds lease) {
    std::vector<ClaimedDelivery> claimed;
    for (const Row row :
         write(store.pool(), queries::claim_webhook_deliveries, {busy, of_webhook, limit, lease}))
        claimed.push_back({.id = row.text("id"),
                           .webhook_id = row.text("webhook_id"),
                           .type = row.text("type"),
                           .body = row.text("body"),
                           .attempts = row.small("attempts"),
                           .url = row.text("url"),
                           .secret = row.text("secret"),
                           .previous_secret = row.text("previous_secret"),
                           .allowed = row.flag("allowed")});
    return claimed;
}

bool finish_webhook_delivery(Store& store, const ClaimedDelivery& delivery,
                             const DeliveryOutcome& outcome) {
    const char* const state = outcome.delivered     ? "delivered"
                              : outcome.again_after ? "pending"
                                                    : "failed";
    const std::chrono::duration<double> wait =
        outcome.again_after.value_or(std::chrono::milliseconds{0});
    return write(store.pool(), queries::finish_webhook_delivery,
                 {delivery.id, delivery.attempts, state, outcome.status,
                  Param::or_null(repaired_text(outcome.error, 500)), outcome.duration_s,
                  wait.count()})
               .affected() > 0;
}

std::int64_t prune_webhook_deliveries(Store& store, std::chrono::milliseconds keep,
                                      std::int64_t of_webhook, const LeaderTerm& term) {
    const std::vector<Rows> answers =
        write_as_leader(store.pool(), term,
                        {{&queries::prune_webhook_deliveries, {keep, pruned_at_once}},
                         {&queries::prune_surplus_deliveries, {of_webhook, pruned_at_once}}});
    return std::max(answers[0].affected(), answers[1].affected());
}

}    // namespace slipway::store
