#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "api/base/id.h"
#include "scheduler/store/webhooks.h"
#include "server/http/outgoing.h"
#include "server/http/problem.h"
#include "server/routes/bodies.h"
#include "server/routes/handlers.h"
#include "server/routes/lookup.h"
#include "server/routes/problems.h"
#include "server/routes/query.h"
#include "server/routes/render.h"
#include "server/webhooks/signature.h"

namespace slipway::routes {
namespace {

store::Webhook the_webhook(const Context& context) {
    const std::string& id = context.request.parameter("id");
    auto webhook = is_id("whk", id) ? store::find_webhook(context.services.store, id)
                                    : std::optional<store::Webhook>{};
    if (!webhook || !reaches(context, webhook->project)) throw_not_found("webhook", id);
    return *std::move(webhook);
}

// Whether a name leads to a public address is seen when it is sent to: here, only what is sure.
void check_url(const Context& context, const std::string& text) {
    const Result<OutgoingUrl> url = parse_outgoing_url(text);
    if (!url)
        throw_problems({{"/url", "bad_format", fmt::format("url {}", url.error().what()), {}}},
                       "invalid_body", "the webhook");
    const auto address = literal_address(*url);
    const OutgoingClient* const client = context.services.outgoing;
    if (!address || (client != nullptr ? client->may_reach(*address) : is_public(*address))) return;
    throw_problems({{"/url",
                     "not_allowed",
                     fmt::format("url leads to {}, which is not a public address; the operator can "
                                 "allow it (--webhook-allow)",
                                 url->authority.host),
                     {}}},
                   "invalid_body", "the webhook");
}

Json render_webhook(const store::Webhook& webhook) {
    return {{"id", webhook.id},
            {"project", webhook.project},
            {"url", webhook.url},
            {"events", webhook.events},
            {"description", webhook.description},
            {"enabled", webhook.enabled},
            {"created_by", webhook.created_by},
            {"url_set_by", webhook.url_set_by},
            {"previous_secret_until", render_time(webhook.previous_secret_until)},
            {"created_at", to_rfc3339(webhook.created_at)}};
}

std::vector<std::string> words_of(const std::vector<WebhookEvent>& events) {
    std::vector<std::string> words;
    for (const WebhookEvent event : events)
        words.emplace_back(to_string(event));
    return words;
}

Response webhook_response(const store::Webhook& webhook, const Json& out, int status = 200) {
    return json_response(out, status).with("ETag", version_etag(webhook.version));
}

/// Nothing that is added would be sent.
void require_enabled(const store::Webhook& webhook) {
    if (webhook.enabled) return;
    throw ProblemError(
        {.status = 409,
         .code = "webhook_disabled",
         .detail = fmt::format("webhook {} is switched off; set enabled to true", webhook.id)});
}

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
}

Json render_delivery(const store::WebhookDelivery& delivery) {
    const bool waits = delivery.state == "pending";
    return {{"id", delivery.id},
            {"webhook_id", delivery.webhook_id},
            {"type", delivery.type},
            {"state", delivery.state},
            {"attempts", delivery.attempts},
            {"status", or_null(delivery.status)},
            {"error", delivery.error.empty() ? Json(nullptr) : Json(delivery.error)},
            {"duration_s", or_null(delivery.duration_s)},
            {"redelivery_of",
             delivery.redelivery_of.empty() ? Json(nullptr) : Json(delivery.redelivery_of)},
            {"next_attempt_at", waits ? Json(to_rfc3339(delivery.due_at)) : Json(nullptr)},
            {"created_at", to_rfc3339(delivery.created_at)},
            {"ended_at", render_time(delivery.ended_at)},
            {"body", Json::parse(delivery.body)}};
}

Response added(const Context& context, const store::WebhookDelivery& delivery) {
    const auto stored = store::add_webhook_delivery(context.services.store, delivery);
    context.services.on_webhook();
    return json_response(render_delivery(stored), 201);
}

}    // namespace

Response create_webhook(const Context& context) {
    const WebhookCreate body = read_body(context.request, decode_webhook_create, "the webhook");
    require_project(context.who, context.endpoint.access, body.project);
    check_url(context, body.url);
    const store::Webhook webhook{.id = new_id("whk"),
                                 .project = body.project,
                                 .url = body.url,
                                 .events = words_of(body.events),
                                 .description = body.description,
                                 .created_by = context.who.token_id};
    const std::string secret = make_webhook_secret();
    const store::Webhook made = store::create_webhook(context.services.store, webhook, secret,
                                                      context.services.limits.webhooks);
    Json out = render_webhook(made);
    out["secret"] = secret;
    return webhook_response(made, out, 201).with("Location", "/v1/webhooks/" + webhook.id);
}

Response list_webhooks(const Context& context) {
    const auto page = store::list_webhooks(context.services.store, projects_asked(context),
                                           query_page(context.request));
    Json items = Json::array();
    for (const store::Webhook& webhook : page.items)
        items.push_back(render_webhook(webhook));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response get_webhook(const Context& context) {
    const store::Webhook webhook = the_webhook(context);
    return webhook_response(webhook, render_webhook(webhook));
}

Response patch_webhook(const Context& context) {
    const store::Webhook before = the_webhook(context);
    const WebhookPatch body = read_body(context.request, decode_webhook_patch, "the change");
    if (body.url) check_url(context, *body.url);
    std::optional<std::int64_t> version;
    if (context.request.header("if-match")) {
        require_if_match(context.request, version_etag(before.version));
        version = before.version;
    }
    store::WebhookPatch patch{.url = body.url,
                              .description = body.description,
                              .enabled = body.enabled,
                              .changed_by = context.who.token_id};
    if (body.events) patch.events = words_of(*body.events);
    if (body.rotate_secret) patch.secret = make_webhook_secret();
    const auto after = store::patch_webhook(context.services.store, before.id, patch, version);
    if (!after) throw_not_found("webhook", before.id);
    context.services.on_webhook();    // what waited may be sent now
    Json out = render_webhook(*after);
    if (patch.secret) out["secret"] = *patch.secret;
    return webhook_response(*after, out);
}

Response delete_webhook(const Context& context) {
    const store::Webhook webhook = the_webhook(context);
    if (!store::delete_webhook(context.services.store, webhook.id))
        throw_not_found("webhook", webhook.id);
    return no_content();
}

Response test_webhook(const Context& context) {
    const store::Webhook webhook = the_webhook(context);
    require_enabled(webhook);
    const Json body{{"id", new_id("evt")},
                    {"type", "webhook.test"},
                    {"time", to_rfc3339(context.services.clock.now())},
                    {"project", webhook.project},
                    {"webhook_id", webhook.id}};
    return added(context, {.id = new_id("dlv"),
                           .webhook_id = webhook.id,
                           .type = "webhook.test",
                           .body = body.dump()});
}

Response list_webhook_deliveries(const Context& context) {
    const store::Webhook webhook = the_webhook(context);
    const auto page = store::list_webhook_deliveries(context.services.store, webhook.id,
                                                     query_text(context.request, "state"),
                                                     query_page(context.request));
    Json items = Json::array();
    for (const store::WebhookDelivery& delivery : page.items)
        items.push_back(render_delivery(delivery));
    return json_response(render_list(std::move(items), page.next_cursor));
}

Response redeliver_webhook(const Context& context) {
    const store::Webhook webhook = the_webhook(context);
    require_enabled(webhook);
    const std::string& id = context.request.parameter("did");
    const auto delivery = is_id("dlv", id)
                              ? store::find_webhook_delivery(context.services.store, webhook.id, id)
                              : std::optional<store::WebhookDelivery>{};
    if (!delivery) throw_not_found("delivery", id);
    return added(context, {.id = new_id("dlv"),
                           .webhook_id = webhook.id,
                           .type = delivery->type,
                           .body = delivery->body,
                           .redelivery_of = delivery->id});
}

}    // namespace slipway::routes
