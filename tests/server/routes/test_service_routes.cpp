#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "api/spec/documents.h"
#include "api/spec/endpoints.h"
#include "server/routes/table.h"
#include "tests/server/routes/test_service.h"
#include "tests/support/eventually.h"
#include "tests/support/raw_http.h"

namespace slipway {
namespace {

struct ServiceRoutes : testing::Test {
    TestService service;

    Json open(const std::string& target) {
        const auto response = service.call_as("", "GET", target);
        EXPECT_EQ(response.status, 200) << target;
        return Json::parse(response.body);
    }
};

TEST_F(ServiceRoutes, health_and_readiness_need_no_token) {
    for (const char* prefix : {"", "/v1"}) {
        EXPECT_TRUE(check_document("Health", open(prefix + std::string("/healthz"))).empty());
        EXPECT_TRUE(check_document("Readiness", open(prefix + std::string("/readyz"))).empty());
    }
}

TEST_F(ServiceRoutes, what_an_operator_asks_waits_for_no_worker) {
    int found = 0;
    const Router router = make_router(service.services);
    for (const Route& route : router.routes()) {
        const bool health =
            route.pattern.ends_with("/healthz") || route.pattern.ends_with("/readyz");
        const bool metrics = route.pattern == "/metrics";
        EXPECT_EQ(route.lane, health    ? Lane::io
                              : metrics ? Lane::reserved
                                        : Lane::worker)
            << route.pattern;
        found += health || metrics ? 1 : 0;
    }
    EXPECT_EQ(found, 5);
}

TEST_F(ServiceRoutes, a_body_without_the_right_to_it_is_never_awaited) {
    int asked = 0;
    const Router router = make_router(service.services);
    for (const Route& route : router.routes()) {
        if (route.body_bytes_max == 0) continue;
        std::string path = route.pattern;
        for (auto open = path.find('{'); open != std::string::npos; open = path.find('{'))
            path.replace(open, path.find('}') + 1 - open, "x");
        RawHttp connection(service.server->port());
        connection.send(
            fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n"
                        "Upload-Offset: 0\r\nContent-Length: 1000000\r\n\r\n",
                        to_string(route.method), path, route.media_types[0]));
        const int status = connection.read_answer().status;
        const bool is_open = route.pattern == "/v1/login" || route.pattern == "/v1/logout";
        EXPECT_EQ(status, is_open ? 413 : 401) << route.pattern;
        ++asked;
    }
    EXPECT_GT(asked, 10);
}

TEST_F(ServiceRoutes, the_description_names_every_endpoint) {
    for (const char* path : {"/openapi.json", "/v1/openapi.json"}) {
        const Json document = open(path);
        EXPECT_TRUE(document.value("openapi", "").starts_with("3.1"));
        for (const Endpoint& endpoint : endpoints())
            EXPECT_TRUE(document["paths"].contains(std::string(endpoint.path))) << endpoint.path;
    }
}

TEST_F(ServiceRoutes, version_and_capabilities_are_told) {
    for (const char* path : {"/version", "/v1/version"})
        EXPECT_TRUE(check_document("Version", open(path)).empty());
    for (const char* path : {"/capabilities", "/v1/capabilities"})
        EXPECT_TRUE(check_document("Capabilities", open(path)).empty());
}

// A request is counted once its answer is sent, so the next one may come first.
TEST_F(ServiceRoutes, figures_are_prometheus_text) {
    service.ready_dataset("points");
    service.submit();
    service.services.metric_samples = [] {
        return std::vector<PrometheusSample>{{"slipway_x_total", "Some.", true, 5}};
    };
    for (const char* part : {"slipway_http_requests_total{", "slipway_jobs{state=\"queued\"} 1\n"})
        EXPECT_TRUE(eventually([&] {
            return service.call("GET", "/metrics").body.find(part) != std::string::npos;
        })) << part;
    const auto response = service.call("GET", "/metrics");
    EXPECT_TRUE(response.header("Content-Type").starts_with("text/plain; version=0.0.4"));
    for (const char* part :
         {"slipway_jobs{state=\"queued\"} 1\n",
          "# TYPE slipway_x_total counter\nslipway_x_total 5\n", "slipway_database_up 1\n"})
        EXPECT_NE(response.body.find(part), std::string::npos) << part << response.body;
}

TEST_F(ServiceRoutes, the_dashboard_is_served_from_the_program) {
    const auto page = service.call_as("", "GET", "/");
    EXPECT_EQ(page.status, 200);
    EXPECT_TRUE(page.header("Content-Type").starts_with("text/html"));
    EXPECT_NE(page.header("Content-Security-Policy"), "");
    const auto script = service.call_as("", "GET", "/app.js");
    EXPECT_TRUE(script.header("Content-Type").starts_with("text/javascript"));
    EXPECT_EQ(service
                  .call_as("", "GET", "/app.js", nullptr,
                           {{"If-None-Match", std::string(script.header("ETag"))}})
                  .status,
              304);
    EXPECT_EQ(service.call_as("", "GET", "/other.js").status, 404);
}

TEST_F(ServiceRoutes, the_documentation_is_served_to_everybody) {
    const auto page = service.call_as("", "GET", "/docs/index.html");
    EXPECT_EQ(page.status, 200);
    EXPECT_TRUE(page.header("Content-Type").starts_with("text/html"));
    EXPECT_EQ(page.header("Content-Security-Policy"),
              service.call_as("", "GET", "/").header("Content-Security-Policy"));
    EXPECT_EQ(service.call_as("", "GET", "/docs/examples/gpt.json").body, "{}");
    const auto onward = service.call_as("", "GET", "/docs");
    EXPECT_EQ(onward.status, 303);
    EXPECT_EQ(onward.header("Location"), "docs/index.html");
    for (const char* missing : {"/docs/none.html", "/docs/none/index.html", "/docs/examples"})
        EXPECT_EQ(service.call_as("", "GET", missing).status, 404) << missing;
    EXPECT_EQ(service.call_as("", "POST", "/docs/index.html").status, 405);
}

TEST_F(ServiceRoutes, every_answer_has_a_request_id) {
    const auto given = service.call("GET", "/v1/me", nullptr, {{"X-Request-Id", "mine-1"}});
    EXPECT_EQ(given.header("X-Request-Id"), "mine-1");
    const auto refused = service.call("GET", "/v1/jobs/x", nullptr, {{"X-Request-Id", "mine-2"}});
    EXPECT_EQ(Json::parse(refused.body)["request_id"], "mine-2");
    EXPECT_NE(service.call("GET", "/v1/me").header("X-Request-Id"), "");
}

TEST_F(ServiceRoutes, another_method_is_told_which_ones_there_are) {
    const auto response = service.call("DELETE", "/v1/jobs");
    EXPECT_EQ(response.status, 405);
    EXPECT_NE(response.header("Allow").find("POST"), std::string_view::npos);
    EXPECT_EQ(service.call("GET", "/v2/jobs").status, 404);
}

// Goal: a database that is away makes no request hang, and it comes back by itself.
TEST_F(ServiceRoutes, a_database_that_is_away_is_answered_fast) {
    service.ready_dataset("points");
    const std::string job = service.submit();
    TempPostgres::instance().stop();
    EXPECT_TRUE(eventually([&] { return service.call_as("", "GET", "/readyz").status == 503; }));
    const auto started = std::chrono::steady_clock::now();
    EXPECT_EQ(service.call_as("", "GET", "/healthz").status, 200);
    EXPECT_EQ(service.call_as("", "GET", "/").status, 200);
    EXPECT_EQ(service.call_as("", "GET", "/openapi.json").status, 200);
    for (const std::string& target :
         {std::string("/readyz"), std::string("/v1/jobs"), "/v1/jobs/" + job}) {
        const auto response = service.call("GET", target);
        EXPECT_EQ(response.status, 503) << target;
        EXPECT_NE(response.header("Retry-After"), "");
    }
    EXPECT_EQ(service.call("POST", "/v1/jobs", TestService::spec()).status, 503);
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds{5});
    TempPostgres::instance().start();
    EXPECT_TRUE(eventually([&] { return service.call("GET", "/readyz").status == 200; }));
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 1U) << "nothing half-way";
}

}    // namespace
}    // namespace slipway
