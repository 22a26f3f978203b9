#include "server/routes/idempotency.h"

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Idempotency : testing::Test {
    TestService service;
    Idempotency() { service.ready_dataset("points"); }

    std::size_t jobs() { return service.expect(200, "GET", "/v1/jobs")["items"].size(); }
};

TEST(CanonicalBody, spelling_does_not_count) {
    EXPECT_EQ(canonical_body(R"({"b":1,"a":[1, 2]})"), canonical_body("{\"a\":[1,2],\n\"b\" : 1}"));
    EXPECT_NE(canonical_body(R"({"a":[1,2]})"), canonical_body(R"({"a":[2,1]})"));
    EXPECT_EQ(canonical_body("{broken"), "{broken");
    // The last of two equal names would stand: two bodies that are refused must not look alike.
    EXPECT_NE(canonical_body(R"({"a":1,"a":2})"), canonical_body(R"({"a":2})"));
}

TEST_F(Idempotency, the_same_request_gives_the_first_answer_again) {
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    const auto first = service.call("POST", "/v1/jobs", TestService::spec(), key);
    ASSERT_EQ(first.status, 201) << first.body;
    EXPECT_EQ(first.header("Idempotency-Replayed"), "");
    for (int i = 0; i < 3; ++i) {
        const auto again = service.call("POST", "/v1/jobs", TestService::spec(), key);
        EXPECT_EQ(again.status, 201);
        EXPECT_EQ(again.body, first.body);
        EXPECT_EQ(again.header("Location"), first.header("Location"));
        EXPECT_EQ(again.header("Idempotency-Replayed"), "true");
    }
    EXPECT_EQ(jobs(), 1U);
}

TEST_F(Idempotency, another_body_with_the_same_key_is_refused) {
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    service.expect(201, "POST", "/v1/jobs", TestService::spec(), key);
    Json other = TestService::spec();
    other["name"] = "other";
    EXPECT_EQ(service.expect(422, "POST", "/v1/jobs", other, key)["code"],
              "idempotency_key_reused");
    EXPECT_EQ(jobs(), 1U);
}

TEST_F(Idempotency, a_key_belongs_to_its_token) {
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    service.expect(201, "POST", "/v1/jobs", TestService::spec(), key);
    const std::string other = service.token(Role::editor);
    const auto response = service.call_as(other, "POST", "/v1/jobs", TestService::spec(), key);
    EXPECT_EQ(response.status, 201);
    EXPECT_EQ(response.header("Idempotency-Replayed"), "");
    EXPECT_EQ(jobs(), 2U);
}

TEST_F(Idempotency, a_refused_request_does_not_use_its_key_up) {
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    Json wrong = TestService::spec();
    wrong["accelerator"] = {{"cores", 3}};
    service.expect(422, "POST", "/v1/jobs", wrong, key);
    service.expect(201, "POST", "/v1/jobs", TestService::spec(), key);
    const Json dataset{{"name", "d"}, {"format", "csv"}, {"source", {{"path", "nowhere"}}}};
    const TestService::Headers second{{"Idempotency-Key", "k2"}};
    service.expect(422, "POST", "/v1/datasets", dataset, second);
    Json right = dataset;
    right["source"]["path"] = "points";
    service.expect(201, "POST", "/v1/datasets", right, second);
}

TEST_F(Idempotency, keys_have_a_form) {
    for (const std::string& bad : {std::string(129, 'k'), std::string("a b"), std::string("ä")})
        EXPECT_EQ(service.expect(400, "POST", "/v1/jobs", TestService::spec(),
                                 {{"Idempotency-Key", bad}})["code"],
                  "invalid_idempotency_key");
    service.expect(201, "POST", "/v1/jobs", TestService::spec(),
                   {{"Idempotency-Key", std::string(128, 'k')}});
}

TEST_F(Idempotency, every_post_honours_it) {
    const auto twice = [&](const std::string& target, const Json& body) {
        const TestService::Headers key{{"Idempotency-Key", target}};
        const auto first = service.call("POST", target, body, key);
        const auto second = service.call("POST", target, body, key);
        EXPECT_LT(first.status, 300) << target << first.body;
        EXPECT_EQ(second.status, first.status) << target << second.body;
        EXPECT_EQ(second.header("Idempotency-Replayed"), "true") << target;
        EXPECT_EQ(second.header("Location"), first.header("Location"));
        return second;
    };
    twice("/v1/datasets", {{"name", "d"}, {"format", "csv"}, {"source", {{"path", "points"}}}});
    twice("/v1/uploads", {{"size", 5}});
    const std::string id = service.submit();
    twice("/v1/jobs/" + id + "/cancel", Json::object());
    // The text of a token or link is in no answer that is kept.
    EXPECT_TRUE(Json::parse(twice("/v1/tokens", {{"name", "t"}}).body)["token"].is_null());
    EXPECT_TRUE(Json::parse(twice("/v1/login-links", Json::object()).body)["url"].is_null());
}

// Goal: a POST whose answer could not be stored has been done, and is not done again.
// Method: the database refuses to store answers for a while.
TEST_F(Idempotency, an_answer_that_cannot_be_stored_is_sent_and_nothing_is_done_twice) {
    service.database.sql(
        "create function refuse() returns trigger language plpgsql as "
        "$$ begin raise exception 'no'; end $$; "
        "create trigger refuse before update on idempotency for each row execute function "
        "refuse()");
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    const Json body{{"size", 5}};
    service.expect(201, "POST", "/v1/uploads", body, key);
    EXPECT_EQ(service.expect(409, "POST", "/v1/uploads", body, key)["code"],
              "idempotency_in_flight");
    const std::string job = service.submit();
    const TestService::Headers other{{"Idempotency-Key", "k2"}};
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel", Json::object(), other);
    service.database.sql(
        "drop trigger refuse on idempotency; "
        "update idempotency set started_at = started_at - interval '2 minutes'");
    const Json refusal = service.expect(409, "POST", "/v1/uploads", body, key);
    EXPECT_EQ(refusal["code"], "idempotency_outcome_unknown");
    EXPECT_EQ(service.database.sql("select count(*) from upload"), "1");
    // What ends in the same state is done again.
    service.expect(200, "POST", "/v1/jobs/" + job + "/cancel", Json::object(), other);
}

TEST_F(Idempotency, a_dry_run_is_not_remembered) {
    const TestService::Headers key{{"Idempotency-Key", "k1"}};
    service.expect(200, "POST", "/v1/jobs?dry_run=true", TestService::spec(), key);
    service.expect(201, "POST", "/v1/jobs", TestService::spec(), key);
}

// Goal: however many clients repeat a request at the same moment, it happens once.
TEST_F(Idempotency, many_at_once_make_one_job) {
    for (const std::string path : {"/v1/jobs", "/v1/uploads"}) {
        const Json body = path == "/v1/jobs" ? TestService::spec() : Json{{"size", 5}};
        std::mutex mutex;
        std::set<std::string> locations;
        std::atomic<int> created = 0;
        std::atomic<int> in_flight = 0;
        {
            std::vector<std::jthread> clients;
            for (int i = 0; i < 8; ++i)
                clients.emplace_back([&] {
                    const auto response = service.call(
                        "POST", path, body, {{"Idempotency-Key", "same-" + path.substr(4)}});
                    if (response.status == 409) {
                        ++in_flight;
                        return;
                    }
                    EXPECT_EQ(response.status, 201) << response.body;
                    ++created;
                    const std::lock_guard lock(mutex);
                    locations.emplace(response.header("Location"));
                });
        }
        EXPECT_EQ(locations.size(), 1U) << path;
        EXPECT_GE(created, 1);
        EXPECT_EQ(created + in_flight, 8);
    }
    EXPECT_EQ(jobs(), 1U);
}

}    // namespace
}    // namespace slipway
