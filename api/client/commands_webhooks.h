#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/client/listing.h"
#include "api/client/service.h"

/// `slipway webhooks` and `slipway webhook …`.
namespace slipway::client {

struct WebhookOptions {
    std::string url;
    std::string project = "default";
    std::vector<std::string> events = {};    ///< empty: all, or as they are
    std::optional<std::string> description = {};
    bool enable = false, disable = false, rotate_secret = false;
};
Listing list_webhooks(const HttpClient& client);
/// Prints the id, then the secret.
ExitCode create_webhook(const HttpClient& client, const WebhookOptions& options);
/// Changes what is given; prints its state and a new secret.
ExitCode set_webhook(const HttpClient& client, const std::string& webhook_id,
                     const WebhookOptions& options);
ExitCode delete_webhook(const HttpClient& client, const std::string& webhook_id);
/// Sends a test and waits for its first attempt. errors  throws Stop{refused} if it was not taken
ExitCode test_webhook(const HttpClient& client, const std::string& webhook_id);
/// The newest 200.
Listing list_deliveries(const HttpClient& client, const std::string& webhook_id);
ExitCode redeliver(const HttpClient& client, const std::string& webhook_id,
                   const std::string& delivery_id);

}    // namespace slipway::client
