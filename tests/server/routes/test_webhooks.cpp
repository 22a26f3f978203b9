// Goal: a webhook is created once with its secret, seen by those who see its project, tested and
// repeated; what it may not have is refused by name. How messages are sent: tests/server/webhooks.
#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "scheduler/store/webhooks.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Webhooks : testing::Test {
    TestService service;
    const std::string url = "https://hooks.example.com/slipway";

    Json create(const Json& changes = Json::object()) {
        Json body{{"url", url}};
        body.merge_patch(changes);
        return service.expect(201, "POST", "/v1/webhooks", body);
    }

    std::string refused(const Json& body) {
        const Json problem = service.expect(422, "POST", "/v1/webhooks", body);
        const Json& first = problem.at("errors").at(0);
        return first.at("pointer").get<std::string>() + " " + first.at("code").get<std::string>();
    }
};

TEST_F(Webhooks, the_secret_is_shown_once) {
    const Json made = create();
    EXPECT_TRUE(check_document("IssuedWebhook", made).empty());
    EXPECT_TRUE(made.at("secret").get<std::string>().starts_with("whsec_"));
    EXPECT_EQ(made.at("events").size(), 6U);
    const std::string id = made.at("id");
    const std::string one = service.call("GET", "/v1/webhooks/" + id).body;
    const std::string all = service.call("GET", "/v1/webhooks").body;
    for (const std::string& text : {one, all})
        EXPECT_EQ(text.find("whsec_"), text.npos);
    EXPECT_TRUE(check_document("Webhook", Json::parse(one)).empty());
    EXPECT_TRUE(check_document("WebhookList", Json::parse(all)).empty());
    const TestService::Headers key{{"Idempotency-Key", "k"}};
    const Json body{{"url", url}};
    service.expect(201, "POST", "/v1/webhooks", body, key);
    EXPECT_EQ(service.call("POST", "/v1/webhooks", body, key).body.find("whsec_"),
              std::string::npos);
    service.expect(204, "DELETE", "/v1/webhooks/" + id);
    service.expect(404, "GET", "/v1/webhooks/" + id);
    service.expect(404, "DELETE", "/v1/webhooks/" + id);
}

TEST_F(Webhooks, what_it_may_not_have_is_named) {
    EXPECT_EQ(refused({{"url", "ftp://a"}}), "/url bad_format");
    EXPECT_EQ(refused({{"url", "http://user@a/"}}), "/url bad_format");
    EXPECT_EQ(refused({{"url", "http://127.0.0.1/"}}), "/url not_allowed");
    EXPECT_EQ(refused({{"url", "http://[::1]:80/"}}), "/url not_allowed");
    EXPECT_EQ(refused({{"url", "http://169.254.169.254/latest"}}), "/url not_allowed");
    EXPECT_EQ(refused(Json::object()), "/url missing_field");
    EXPECT_EQ(refused({{"url", url}, {"events", Json::array()}}), "/events out_of_bounds");
    EXPECT_EQ(refused({{"url", url}, {"events", {"job.end"}}}), "/events/0 not_allowed");
    EXPECT_EQ(refused({{"url", url}, {"secret", "mine"}}), "/secret unknown_field");
    EXPECT_TRUE(service.expect(200, "GET", "/v1/webhooks")["items"].empty());
}

TEST_F(Webhooks, only_those_of_a_project_see_it) {
    const std::string id = create({{"project", "secret"}}).at("id");
    const std::string other = service.token(Role::editor, {"other"});
    const std::string viewer = service.token(Role::viewer);
    const auto status = [&](const std::string& token, const char* method, const std::string& path,
                            const Json& body = nullptr) {
        return service.call_as(token, method, "/v1/webhooks" + path, body).status;
    };
    for (const std::string& path : {"/" + id, "/" + id + "/deliveries"})
        EXPECT_EQ(status(other, "GET", path), 404);
    EXPECT_EQ(status(other, "DELETE", "/" + id), 404);
    EXPECT_EQ(status(other, "POST", "/" + id + "/test"), 404);
    EXPECT_EQ(status(other, "POST", "", {{"url", url}, {"project", "secret"}}), 403);
    EXPECT_TRUE(Json::parse(service.call_as(other, "GET", "/v1/webhooks").body)["items"].empty());
    EXPECT_EQ(status(viewer, "GET", "/" + id), 200);
    EXPECT_EQ(status(viewer, "POST", "/" + id + "/test"), 403);
    EXPECT_EQ(status(viewer, "DELETE", "/" + id), 403);
}

TEST_F(Webhooks, a_page_of_large_deliveries_ends_early_and_goes_on) {
    const std::string id = create({{"url", "https://hooks.example.com/"}})["id"];
    for (int i = 0; i < 5; ++i)
        store::add_webhook_delivery(service.store,
                                    {.id = new_id("dlv"),
                                     .webhook_id = id,
                                     .type = "job.ended",
                                     .body = Json(std::string(1 << 20, 'x')).dump()});
    const std::string path = "/v1/webhooks/" + id + "/deliveries?limit=200";
    std::size_t found = 0;
    std::string cursor;
    do {
        const Json page = service.expect(200, "GET", path + cursor);
        EXPECT_LE(page["items"].size(), 2U);
        found += page["items"].size();
        cursor = page["next_cursor"].is_null()
                     ? ""
                     : "&cursor=" + page["next_cursor"].get<std::string>();
    } while (!cursor.empty());
    EXPECT_EQ(found, 5U);
}

TEST_F(Webhooks, a_test_and_a_repetition_are_deliveries) {
    int woken = 0;
    service.services.on_webhook = [&] { ++woken; };
    const std::string path = "/v1/webhooks/" + create().at("id").get<std::string>();
    const Json test = service.expect(201, "POST", path + "/test");
    EXPECT_TRUE(check_document("WebhookDelivery", test).empty());
    EXPECT_EQ(test.at("type"), "webhook.test");
    EXPECT_EQ(test.at("state"), "pending");
    const std::string id = test.at("id");
    const Json again = service.expect(201, "POST", path + "/deliveries/" + id + "/redeliver");
    EXPECT_EQ(again.at("redelivery_of"), id);
    EXPECT_EQ(again.at("body"), test.at("body"));
    EXPECT_EQ(woken, 2);
    const Json list = service.expect(200, "GET", path + "/deliveries?state=pending");
    EXPECT_TRUE(check_document("WebhookDeliveryList", list).empty());
    EXPECT_EQ(list["items"].size(), 2U);
    EXPECT_TRUE(service.expect(200, "GET", path + "/deliveries?state=failed")["items"].empty());
    service.expect(404, "POST", path + "/deliveries/dlv_0/redeliver");
    service.expect(404, "POST", path + "/deliveries/" + new_id("dlv") + "/redeliver");
    service.expect(422, "GET", path + "/deliveries?state=lost");
}

TEST_F(Webhooks, what_is_given_is_changed_and_the_rest_stays) {
    int woken = 0;
    service.services.on_webhook = [&] { ++woken; };
    const Json made = create({{"description", "chat"}});
    const std::string path = "/v1/webhooks/" + made.at("id").get<std::string>();
    const auto changed = [&](const Json& body) {
        const Json after = service.expect(200, "PATCH", path, body);
        EXPECT_TRUE(check_document("ChangedWebhook", after).empty()) << after;
        EXPECT_EQ(after, [&] {
            Json shown = service.expect(200, "GET", path);
            if (after.contains("secret")) shown["secret"] = after["secret"];
            return shown;
        }());
        return after;
    };
    Json after = changed({{"url", "https://other.example.com/"}});
    EXPECT_EQ(after["url"], "https://other.example.com/");
    EXPECT_EQ(after["events"], made["events"]);
    EXPECT_EQ(after["description"], "chat");
    EXPECT_FALSE(after.contains("secret"));
    after = changed({{"events", {"job.ended"}}, {"description", ""}, {"enabled", false}});
    EXPECT_EQ(after["events"], Json({"job.ended"}));
    EXPECT_EQ(after["description"], "");
    EXPECT_EQ(after["enabled"], false);
    EXPECT_EQ(after["url"], "https://other.example.com/");
    EXPECT_EQ(service.expect(409, "POST", path + "/test")["code"], "webhook_disabled");
    after = changed({{"enabled", true}});
    service.expect(201, "POST", path + "/test");
    EXPECT_EQ(woken, 4);
    changed(Json::object());
}

TEST_F(Webhooks, a_new_secret_is_shown_once_and_the_old_one_signs_for_a_day) {
    const Json made = create();
    const std::string path = "/v1/webhooks/" + made.at("id").get<std::string>();
    EXPECT_EQ(made["previous_secret_until"], nullptr);
    const Json after = service.expect(200, "PATCH", path, {{"rotate_secret", true}});
    EXPECT_TRUE(after.at("secret").get<std::string>().starts_with("whsec_"));
    EXPECT_NE(after["secret"], made["secret"]);
    EXPECT_TRUE(after["previous_secret_until"].is_string());
    EXPECT_EQ(service.call("GET", path).body.find("whsec_"), std::string::npos);
    service.expect(201, "POST", path + "/test");
    const auto claimed =
        store::claim_webhook_deliveries(service.store, {}, 2, 2, std::chrono::seconds{1});
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_EQ(claimed[0].secret, after["secret"].get<std::string>());
    EXPECT_EQ(claimed[0].previous_secret, made["secret"].get<std::string>());
    service.database.sql("update webhook set secret_until = statement_timestamp()");
    EXPECT_EQ(service.expect(200, "GET", path)["previous_secret_until"], nullptr);
}

TEST_F(Webhooks, it_depends_on_the_token_that_set_its_url) {
    const Json made = create();
    const std::string path = "/v1/webhooks/" + made.at("id").get<std::string>();
    const std::string editor = service.token(Role::editor);
    const auto change = [&](const Json& body) {
        return Json::parse(service.call_as(editor, "PATCH", path, body).body);
    };
    EXPECT_EQ(change({{"events", {"job.ended"}}})["url_set_by"], made["created_by"]);
    const Json after = change({{"url", url}});
    EXPECT_NE(after["url_set_by"], made["created_by"]);
    EXPECT_EQ(after["created_by"], made["created_by"]);
    service.expect(201, "POST", path + "/test");
    service.database.sql("update token set revoked_at = clock_timestamp() where id = '" +
                         after["url_set_by"].get<std::string>() + "'");
    const auto claimed =
        store::claim_webhook_deliveries(service.store, {}, 2, 2, std::chrono::seconds{1});
    ASSERT_EQ(claimed.size(), 1U);
    EXPECT_FALSE(claimed[0].allowed);
}

TEST_F(Webhooks, one_that_is_off_gets_no_events_and_sends_none_that_wait) {
    service.ready_dataset("points");
    const std::string path = "/v1/webhooks/" + create().at("id").get<std::string>();
    const auto claimed = [&] {
        store::expand_webhook_events(service.store);
        return store::claim_webhook_deliveries(service.store, {}, 10, 10, std::chrono::hours{1})
            .size();
    };
    service.expect(201, "POST", path + "/test");
    service.expect(200, "PATCH", path, {{"enabled", false}});
    service.submit();
    EXPECT_EQ(claimed(), 0U);
    service.expect(200, "PATCH", path, {{"enabled", true}});
    EXPECT_EQ(claimed(), 1U) << "what waited, and nothing of the time between";
}

TEST_F(Webhooks, a_change_that_may_not_be_is_refused) {
    const std::string path = "/v1/webhooks/" + create().at("id").get<std::string>();
    const auto refuses = [&](const Json& body) {
        const Json problem = service.expect(422, "PATCH", path, body);
        const Json& first = problem.at("errors").at(0);
        return first.at("pointer").get<std::string>() + " " + first.at("code").get<std::string>();
    };
    EXPECT_EQ(refuses({{"url", "http://169.254.169.254/latest"}}), "/url not_allowed");
    EXPECT_EQ(refuses({{"url", "ftp://a"}}), "/url bad_format");
    EXPECT_EQ(refuses({{"events", Json::array()}}), "/events out_of_bounds");
    EXPECT_EQ(refuses({{"enabled", "no"}}), "/enabled wrong_type");
    EXPECT_EQ(refuses({{"project", "other"}}), "/project unknown_field");
    EXPECT_EQ(refuses({{"secret", "whsec_bWluZQ=="}}), "/secret unknown_field");
    EXPECT_EQ(refuses({{"description", std::string(501, 'x')}}), "/description out_of_bounds");
    EXPECT_EQ(service.expect(200, "GET", path)["url"], url);
    EXPECT_EQ(service.call_as(service.token(Role::viewer), "PATCH", path, Json::object()).status,
              403);
    EXPECT_EQ(service.call_as(service.token(Role::editor, {"other"}), "PATCH", path, Json::object())
                  .status,
              404);
    service.expect(404, "PATCH", "/v1/webhooks/" + new_id("whk"), Json::object());
}

TEST_F(Webhooks, a_change_of_what_has_changed_since_is_refused) {
    const std::string path = "/v1/webhooks/" + create().at("id").get<std::string>();
    const std::string etag(service.call("GET", path).header("ETag"));
    const TestService::Headers old{{"If-Match", etag}};
    service.expect(200, "PATCH", path, {{"enabled", false}}, old);
    service.expect(412, "PATCH", path, {{"enabled", true}}, old);
    EXPECT_EQ(service.expect(200, "GET", path)["enabled"], false);
    EXPECT_NE(service.call("GET", path).header("ETag"), etag);
}

TEST_F(Webhooks, a_project_has_so_many) {
    service.services.limits.webhooks = 2;
    create();
    create();
    EXPECT_EQ(service.call("POST", "/v1/webhooks", {{"url", url}}).status, 429);
    create({{"project", "another"}});
}

}    // namespace
}    // namespace slipway
