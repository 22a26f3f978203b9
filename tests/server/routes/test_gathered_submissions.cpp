#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "api/base/id.h"
#include "server/routes/submissions.h"
#include "tests/server/routes/test_service.h"

// Submissions that come at the same time are stored together; each client must see what it would
// have seen alone.
namespace slipway {
namespace {

struct GatheredSubmissionRoutes : testing::Test {
    TestService service;

    GatheredSubmissionRoutes() { service.ready_dataset("points"); }

    /// Each of these as a client of its own, again and again at the same time.
    void at_once(const std::vector<std::function<void()>>& clients, int times) {
        std::vector<std::jthread> threads;
        for (const auto& client : clients)
            threads.emplace_back([&client, times] {
                for (int i = 0; i < times; ++i)
                    client();
            });
    }

    std::function<void()> posts(int status, Json body, std::string token = {},
                                const TestService::Headers& headers = {}) {
        return [this, status, body = std::move(body), token = std::move(token), headers] {
            const std::string& as = token.empty() ? service.admin : token;
            const auto answer = service.call_as(as, "POST", "/v1/jobs", body, headers);
            if (answer.status != status) {
                ADD_FAILURE() << answer.status << " instead of " << status << ": " << answer.body;
            }
            ++answers;
        };
    }

    std::atomic<int> answers = 0;
};

TEST_F(GatheredSubmissionRoutes, each_client_gets_the_answer_of_its_own_request) {
    std::atomic<int> wrong = 0;
    std::vector<std::function<void()>> clients;
    for (int i = 0; i < 12; ++i)
        clients.emplace_back([&, i] {
            Json body = TestService::spec();
            body["name"] = "client-" + std::to_string(i);
            const auto answer = service.call("POST", "/v1/jobs", body);
            const Json job = Json::parse(answer.body);
            wrong += answer.status != 201 || job["name"] != body["name"] ||
                     answer.header("Location") != "/v1/jobs/" + job["id"].get<std::string>() ||
                     answer.header("ETag").empty();
        });
    at_once(clients, 10);
    EXPECT_EQ(wrong, 0);
    std::set<std::string> ids;
    const Json jobs = service.expect(200, "GET", "/v1/jobs?limit=200");
    for (const Json& job : jobs["items"])
        ids.insert(job["id"]);
    EXPECT_EQ(ids.size(), 120U);
}

TEST_F(GatheredSubmissionRoutes, what_is_wrong_with_one_is_told_to_nobody_else) {
    service.expect(200, "PUT", "/v1/projects/default/quota", {{"class_max", "normal"}});
    Json unknown = TestService::spec();
    unknown["data"]["dataset"] = "nobody's";
    Json gone = TestService::spec();
    gone["data"]["dataset"] = new_id("ds");
    Json wrong = TestService::spec();
    wrong["train"]["epochs"] = -1;
    Json too_urgent = TestService::spec();
    too_urgent["queue"] = {{"class", "urgent"}};
    const std::string viewer = service.token(Role::viewer);
    const std::string outsider = service.token(Role::editor, {"elsewhere"});
    const Json good = TestService::spec();
    at_once({posts(201, good), posts(201, good), posts(201, good), posts(201, good),
             posts(422, unknown), posts(422, gone), posts(422, wrong), posts(422, too_urgent),
             posts(403, good, viewer), posts(403, good, outsider), posts(401, good, "slp_nobody"),
             posts(201, good, {}, {{"Idempotency-Key", "the-same"}})},
            10);
    EXPECT_EQ(answers, 120);
    // The keyed one is stored once.
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs?limit=200")["items"].size(), 41U);
}

TEST_F(GatheredSubmissionRoutes, each_job_has_its_entry_in_the_audit_log) {
    at_once({posts(201, TestService::spec()), posts(201, TestService::spec()),
             posts(201, TestService::spec())},
            10);
    std::set<std::string> objects;
    const Json audit = service.expect(200, "GET", "/v1/audit?limit=200");
    for (const Json& entry : audit["items"])
        if (entry["action"] == "create_job") objects.insert(entry["object"]);
    EXPECT_EQ(objects.size(), 30U);
}

TEST_F(GatheredSubmissionRoutes, a_token_that_was_revoked_ends_at_once) {
    const std::string token = service.token(Role::editor);
    const Json me = Json::parse(service.call_as(token, "GET", "/v1/me").body);
    for (int i = 0; i < 3; ++i)
        posts(201, TestService::spec(), token)();
    service.call("DELETE", "/v1/tokens/" + me["token_id"].get<std::string>());
    at_once({posts(401, TestService::spec(), token), posts(201, TestService::spec())}, 5);
}

TEST_F(GatheredSubmissionRoutes, dry_runs_and_keys_are_not_gathered) {
    Request request;
    EXPECT_TRUE(routes::may_gather_submission(request));
    request.query_pairs = {{"dry_run", "true"}};
    EXPECT_FALSE(routes::may_gather_submission(request));
    request.query_pairs = {};
    request.headers = {{"idempotency-key", "k"}};
    EXPECT_FALSE(routes::may_gather_submission(request));
}

TEST_F(GatheredSubmissionRoutes, a_queue_without_a_place_refuses_those_that_are_too_many) {
    service.services.limits.queued_jobs = 20;
    std::atomic<int> taken = 0, refused = 0;
    const auto submits = [&] {
        const auto answer = service.call("POST", "/v1/jobs", TestService::spec());
        taken += answer.status == 201;
        refused += answer.status == 429;
    };
    at_once({submits, submits, submits, submits, submits, submits}, 8);
    EXPECT_EQ(taken, 20);
    EXPECT_EQ(refused, 28);
}

}    // namespace
}    // namespace slipway
