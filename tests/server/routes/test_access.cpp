#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "server/auth/token.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct AccessMatrix : testing::Test {
    TestService service;

    // The endpoint's address with ids that are well-formed and name nothing.
    static std::string address(const Endpoint& endpoint) {
        std::string path(endpoint.path);
        const auto put = [&](std::string_view what, const std::string& value) {
            if (const std::size_t at = path.find(what); at != std::string::npos)
                path.replace(at, what.size(), value);
        };
        const char* kind = path.starts_with("/v1/jobs")          ? "job"
                           : path.starts_with("/v1/checkpoints") ? "ckp"
                           : path.starts_with("/v1/datasets")    ? "ds"
                           : path.starts_with("/v1/uploads")     ? "upl"
                                                                 : "tok";
        put("{id}", new_id(kind));
        put("{sid}", new_id("spl"));
        put("{name}", "model.safetensors");
        put("{n}", "99");
        put("{p}", "vision");
        put("{h}", "moon");
        put("{g}", "sweep");
        put("{m}", "ann");
        put("{hash}", "0123456789abcdef0123456789abcdef");
        put("{did}", new_id("dlv"));
        put("{tid}", "0");
        return path;
    }

    /// Of a stream that does not end by itself.
    int stream_status(const client::ClientRequest& request, const std::string& token) {
        return service.client(token).stream(request, [](std::string_view) { return false; }).status;
    }

    int status(const Endpoint& endpoint, const std::string& token,
               const TestService::Headers& headers = {}) {
        client::ClientRequest request{.method = std::string(endpoint.method),
                                      .target = address(endpoint)};
        if (endpoint.method == "POST" || !endpoint.request.empty()) request.body = "{}";
        if (!endpoint.body_media_type.empty()) {
            request.body = "x";
            request.media_type = endpoint.body_media_type;
            request.headers.push_back({"Upload-Offset", "0"});
        }
        for (const auto& header : headers)
            request.headers.push_back(header);
        if (endpoint.media_type == "text/event-stream") return stream_status(request, token);
        const auto response = service.send(std::move(request), token);
        if (response.status >= 400 && response.header("Content-Type").starts_with("application/"))
            EXPECT_TRUE(check_document("Problem", Json::parse(response.body)).empty())
                << endpoint.name << response.body;
        return response.status;
    }
};

// Goal: no endpoint is forgotten. Method: every row of the table, every kind of caller.
TEST_F(AccessMatrix, every_endpoint_asks_who_it_is) {
    const std::string revoked = service.token(Role::admin);
    const Json me = Json::parse(service.call_as(revoked, "GET", "/v1/me").body);
    service.expect(204, "DELETE", "/v1/tokens/" + me.value("token_id", ""));
    const std::string unknown = make_token().text;
    std::string mistyped = service.admin;
    mistyped.back() = mistyped.back() == 'a' ? 'b' : 'a';
    for (const Endpoint& endpoint : endpoints()) {
        if (endpoint.access == Access::open) {
            EXPECT_NE(status(endpoint, ""), 403) << endpoint.name;
            continue;
        }
        for (const std::string& token :
             {std::string(), std::string("garbage"), revoked, unknown, mistyped})
            EXPECT_EQ(status(endpoint, token), 401) << endpoint.name << " with " << token;
        EXPECT_EQ(status(endpoint, "", {{"Authorization", "Basic YTpi"}}), 401) << endpoint.name;
        EXPECT_EQ(status(endpoint, "", {{"Cookie", "slipway=" + make_secret()}}), 401)
            << endpoint.name;
    }
}

TEST_F(AccessMatrix, every_endpoint_asks_for_the_right) {
    const std::array roles{Role::viewer, Role::editor, Role::admin};
    for (const Role role : roles) {
        const std::string token = service.token(role);
        Identity who;
        who.grants = {{.project = "", .role = role}};
        for (const Endpoint& endpoint : endpoints()) {
            if (endpoint.access == Access::open) continue;
            const int got = status(endpoint, token);
            if (who.may(endpoint.access))
                EXPECT_TRUE(got != 401 && got != 403 && got < 500)
                    << endpoint.name << " for " << to_string(role) << ": " << got;
            else
                EXPECT_EQ(got, 403) << endpoint.name << " for " << to_string(role);
        }
    }
}

TEST_F(AccessMatrix, an_expired_token_is_none) {
    store::Token token;
    token.name = "old";
    token.role = "admin";
    token.expires_at = system_clock().now() - std::chrono::hours{1};
    const std::string text = issue_token(service.store, token).text;
    EXPECT_EQ(service.call_as(text, "GET", "/v1/me").status, 401);
}

// Goal: what belongs to a project that the token does not see does not exist for it.
TEST_F(AccessMatrix, projects_hide_their_objects) {
    service.ready_dataset("points");
    const std::string dataset = service.ready_dataset("points", "secret");
    const std::string job = service.submit({{"project", "secret"}});
    const auto key = service.run(job);
    const std::string checkpoint = new_id("ckp");
    service.relay(key, {{.number = 3,
                         .checkpoint = store::RelayedCheckpoint{.id = checkpoint,
                                                                .name = "step_1_attempt_1",
                                                                .step = 1,
                                                                .kinds = {"last"},
                                                                .files = "[]"}}});
    const std::string stranger = service.token(Role::editor, {"default"});
    for (const std::string& path :
         {"/v1/jobs/" + job, "/v1/jobs/" + job + "/events", "/v1/jobs/" + job + "/logs",
          "/v1/jobs/" + job + "/metrics", "/v1/jobs/" + job + "/metrics.csv",
          "/v1/jobs/" + job + "/checkpoints", "/v1/jobs/" + job + "/attempts",
          "/v1/jobs/" + job + "/explain", "/v1/jobs/" + job + "/spec",
          "/v1/checkpoints/" + checkpoint, "/v1/checkpoints/" + checkpoint + "/files/x",
          "/v1/datasets/" + dataset, "/v1/datasets/" + dataset + "/preview",
          "/v1/datasets/" + dataset + "/splits", std::string("/v1/jobs?project=secret"),
          std::string("/v1/datasets?project=secret"),
          std::string("/v1/datasets/points?project=secret")})
        EXPECT_EQ(service.call_as(stranger, "GET", path).status, 404) << path;
    for (const char* verb : {"cancel", "kill"})
        EXPECT_EQ(service.call_as(stranger, "POST", "/v1/jobs/" + job + "/" + verb).status, 404);
    EXPECT_EQ(service.call_as(stranger, "DELETE", "/v1/jobs/" + job).status, 404);
    EXPECT_EQ(service.call_as(stranger, "DELETE", "/v1/datasets/" + dataset).status, 404);
    Json body = TestService::spec();
    body["project"] = "secret";
    EXPECT_EQ(service.call_as(stranger, "POST", "/v1/jobs", body).status, 403);
    for (const std::string path : {"/v1/jobs", "/v1/checkpoints", "/v1/queue"}) {
        const auto list = service.call_as(stranger, "GET", path);
        EXPECT_EQ(Json::parse(list.body)["items"].size(), 0U) << path;
    }
    const auto cores = service.call_as(stranger, "GET", "/v1/cores");
    EXPECT_EQ(cores.body.find(job), std::string::npos);
    EXPECT_EQ(Json::parse(service.call_as(stranger, "GET", "/v1/datasets").body)["items"].size(),
              1U);
}

TEST_F(AccessMatrix, a_dataset_of_another_project_cannot_be_trained_on) {
    const std::string dataset = service.ready_dataset("hidden", "secret");
    for (const std::string& named : {std::string("hidden"), dataset}) {
        Json body = TestService::spec();
        body["data"]["dataset"] = named;
        const Json problem = service.expect(422, "POST", "/v1/jobs", body);
        EXPECT_EQ(problem["errors"][0]["pointer"], "/data/dataset");
    }
}

}    // namespace
}    // namespace slipway
