#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/client/commands.h"

namespace slipway::client {
namespace {

constexpr std::chrono::milliseconds look_again_after{100};
constexpr int looks_max = 150;

std::string webhook_path(const std::string& webhook_id) {
    return "/v1/webhooks/" + percent_encode(webhook_id);
}

// The delivery once its first attempt has ended; or as it is, when that takes long.
Json tried(const HttpClient& client, const std::string& webhook_id, Json delivery) {
    const std::string id = cell(delivery, "id");
    for (int look = 0; look < looks_max && delivery.at("duration_s").is_null(); ++look) {
        pause_for(look_again_after);
        for (Json& one : get_items(client, webhook_path(webhook_id) + "/deliveries", 20))
            if (cell(one, "id") == id) delivery = std::move(one);
    }
    return delivery;
}

}    // namespace

Listing list_webhooks(const HttpClient& client) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, "/v1/webhooks");
    for (const Json& one : items) {
        std::string events;
        for (const Json& event : one.at("events"))
            events += (events.empty() ? "" : ",") + event.get<std::string>();
        rows.push_back({cell(one, "id"), cell(one, "project"), cell(one, "url"), events,
                        one.value("enabled", true) ? "on" : "off", cell(one, "description")});
    }
    return {.head = {"id", "project", "url", "events", "state", "description"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode create_webhook(const HttpClient& client, const WebhookOptions& options) {
    Json body{{"url", options.url}, {"project", options.project}};
    if (!options.events.empty()) body["events"] = options.events;
    if (options.description) body["description"] = *options.description;
    const Json made = call(client, "POST", "/v1/webhooks", body);
    fmt::print("{}\n{}\n", cell(made, "id"), cell(made, "secret"));
    return ExitCode::ok;
}

ExitCode set_webhook(const HttpClient& client, const std::string& webhook_id,
                     const WebhookOptions& options) {
    Json body = Json::object();
    if (!options.url.empty()) body["url"] = options.url;
    if (!options.events.empty()) body["events"] = options.events;
    if (options.description) body["description"] = *options.description;
    if (options.enable || options.disable) body["enabled"] = options.enable;
    if (options.rotate_secret) body["rotate_secret"] = true;
    if (body.empty())
        throw Stop(ExitCode::usage, "nothing to change; see `slipway webhook set --help`");
    const Json after = call(client, "PATCH", webhook_path(webhook_id), body);
    fmt::print("{} {}\n", webhook_id, after.value("enabled", true) ? "on" : "off");
    if (after.contains("secret")) fmt::print("{}\n", cell(after, "secret"));
    return ExitCode::ok;
}

ExitCode delete_webhook(const HttpClient& client, const std::string& webhook_id) {
    call(client, "DELETE", webhook_path(webhook_id), nullptr);
    fmt::print("{} deleted\n", webhook_id);
    return ExitCode::ok;
}

ExitCode test_webhook(const HttpClient& client, const std::string& webhook_id) {
    const Json delivery =
        tried(client, webhook_id,
              call(client, "POST", webhook_path(webhook_id) + "/test", Json::object()));
    if (cell(delivery, "state") == "delivered") {
        fmt::print("delivered in {} s, status {}\n", cell(delivery, "duration_s"),
                   cell(delivery, "status"));
        return ExitCode::ok;
    }
    throw Stop(ExitCode::refused, "not delivered: " + cell(delivery, "error"));
}

Listing list_deliveries(const HttpClient& client, const std::string& webhook_id) {
    std::vector<std::vector<std::string>> rows;
    const Json items = get_items(client, webhook_path(webhook_id) + "/deliveries", 200);
    for (const Json& one : items)
        rows.push_back({cell(one, "id"), cell(one, "type"), cell(one, "state"),
                        cell(one, "attempts"), cell(one, "status"), cell(one, "error"),
                        cell(one, "created_at").substr(0, 19)});
    return {.head = {"id", "type", "state", "attempts", "status", "error", "created"},
            .rows = std::move(rows),
            .items = items};
}

ExitCode redeliver(const HttpClient& client, const std::string& webhook_id,
                   const std::string& delivery_id) {
    const Json made =
        call(client, "POST",
             webhook_path(webhook_id) + "/deliveries/" + percent_encode(delivery_id) + "/redeliver",
             Json::object());
    fmt::print("{}\n", cell(made, "id"));
    return ExitCode::ok;
}

}    // namespace slipway::client
