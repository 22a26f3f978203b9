#pragma once

#include <array>
#include <string_view>

#include "api/spec/endpoints/parts.h"

/// The endpoints of webhooks and their delivery logs.
namespace slipway::webhook_endpoints {

using namespace endpoint_parts;

inline constexpr auto creates_webhook = std::to_array<int>({409, 413, 415, 422});
inline constexpr auto patches_webhook = std::to_array<int>({404, 412, 413, 415, 422});
inline constexpr auto sends_webhook = std::to_array<int>({404, 409});

inline constexpr auto delivery_states =
    std::to_array<std::string_view>({"pending", "delivered", "failed"});
inline constexpr auto webhook_list = std::to_array<QueryParameter>({limit, cursor, project});
inline constexpr auto delivery_list = std::to_array<QueryParameter>({
    limit,
    cursor,
    {.name = "state",
     .type = QueryType::word,
     .summary = "Only deliveries in this state.",
     .allowed = Words(delivery_states)},
});

inline constexpr auto rows = std::to_array<Endpoint>({
    {.name = "create_webhook",
     .method = "POST",
     .path = "/v1/webhooks",
     .group = "webhooks",
     .summary = "Create a webhook: events of a project's jobs are posted to its URL. The secret "
                "that its messages are signed with is returned only once.",
     .access = Access::write,
     .request = "WebhookCreate",
     .response = "IssuedWebhook",
     .success = 201,
     .errors = creates_webhook,
     .idempotent_by_key = true},
    {.name = "list_webhooks",
     .method = "GET",
     .path = "/v1/webhooks",
     .group = "webhooks",
     .summary = "List webhooks, newest first, without their secrets.",
     .response = "WebhookList",
     .errors = queries,
     .query = webhook_list},
    {.name = "get_webhook",
     .method = "GET",
     .path = "/v1/webhooks/{id}",
     .group = "webhooks",
     .summary = "Get a webhook, without its secret.",
     .response = "Webhook",
     .errors = not_found},
    {.name = "patch_webhook",
     .method = "PATCH",
     .path = "/v1/webhooks/{id}",
     .group = "webhooks",
     .summary = "Change the URL, the events or the description, disable or enable it, or rotate "
                "its secret. Supports If-Match.",
     .access = Access::write,
     .request = "WebhookPatch",
     .response = "ChangedWebhook",
     .errors = patches_webhook},
    {.name = "delete_webhook",
     .method = "DELETE",
     .path = "/v1/webhooks/{id}",
     .group = "webhooks",
     .summary = "Delete a webhook with its deliveries; waiting deliveries are not sent.",
     .access = Access::write,
     .success = 204,
     .errors = not_found},
    {.name = "test_webhook",
     .method = "POST",
     .path = "/v1/webhooks/{id}/test",
     .group = "webhooks",
     .summary = "Send a message of type webhook.test. The delivery shows whether it was accepted.",
     .access = Access::write,
     .response = "WebhookDelivery",
     .success = 201,
     .errors = sends_webhook,
     .idempotent_by_key = true},
    {.name = "list_webhook_deliveries",
     .method = "GET",
     .path = "/v1/webhooks/{id}/deliveries",
     .group = "webhooks",
     .summary = "List the deliveries of a webhook, newest first. Finished ones are kept for 30 "
                "days, at most the newest 1,000 of a webhook.",
     .response = "WebhookDeliveryList",
     .errors = finds,
     .query = delivery_list},
    {.name = "redeliver_webhook",
     .method = "POST",
     .path = "/v1/webhooks/{id}/deliveries/{did}/redeliver",
     .group = "webhooks",
     .summary = "Send the body of a delivery again, as a new delivery.",
     .access = Access::write,
     .response = "WebhookDelivery",
     .success = 201,
     .errors = sends_webhook,
     .idempotent_by_key = true},
});

}    // namespace slipway::webhook_endpoints
