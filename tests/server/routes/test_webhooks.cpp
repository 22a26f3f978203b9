// Goal: a webhook is created once with its secret, seen by those who see its project, tested and
// repeated; what it may not have is refused by name. How messages are sent: tests/server/webhooks.
#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
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

TEST_F(Webhooks, a_project_has_so_many) {
    service.services.limits.webhooks = 2;
    create();
    create();
    EXPECT_EQ(service.call("POST", "/v1/webhooks", {{"url", url}}).status, 429);
    create({{"project", "another"}});
}

}    // namespace
}    // namespace slipway
