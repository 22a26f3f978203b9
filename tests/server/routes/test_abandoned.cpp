// Goal: what takes long ends soon after its client has left, and few such requests run at a time.
// Method: the handler is called with a client that leaves when it has been looked for some times.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/base/error.h"
#include "server/routes/table.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

class Abandoned : public testing::Test {
protected:
    Abandoned() { service.ready_dataset("points"); }

    /// Whether the request ended because its client had left after this many looks.
    bool ends(Method method, std::vector<std::string> segments, int looks,
              const Json& body = nullptr) {
        const Router router = make_router(service.services);
        const RouteMatch match = router.match(method, segments);
        Request request{.method = method,
                        .segments = std::move(segments),
                        .parameters = match.parameters,
                        .headers = {{"authorization", "Bearer " + service.admin},
                                    {"content-type", "application/json"}},
                        .body = body.is_null() ? "" : body.dump(),
                        .client_has_left = [&looks] { return looks-- <= 0; }};
        try {
            match.route->handler(request);
            return false;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::exhausted) << error.what();
            return true;
        }
    }

    TestService service;
};

TEST_F(Abandoned, a_bulk_action_ends_before_the_next_job) {
    for (int i = 0; i < 5; ++i)
        service.submit();
    constexpr int looks_before_jobs = 2;    // before it begins and before the page of jobs
    EXPECT_TRUE(ends(Method::POST, {"v1", "jobs", "bulk"}, looks_before_jobs + 2,
                     {{"action", "cancel"}, {"filter", {{"project", "default"}}}}));
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs?state=cancelled")["items"].size(), 2U);
}

TEST_F(Abandoned, named_jobs_are_not_looked_up) {
    const std::string id = service.submit();
    EXPECT_TRUE(ends(Method::POST, {"v1", "jobs", "bulk"}, 1,
                     {{"action", "cancel"}, {"filter", {{"ids", {id}}}}}));
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + id)["state"], "queued");
}

TEST_F(Abandoned, logs_and_curves_are_read_no_further) {
    const std::string id = service.submit();
    service.relay(service.run(id),
                  {{.number = 10,
                    .metrics = {{.name = "a", .step = 1, .epoch = 1, .value = 1},
                                {.name = "b", .step = 1, .epoch = 1, .value = 1}}}});
    EXPECT_TRUE(ends(Method::GET, {"v1", "jobs", id, "logs"}, 0));
    for (const char* part : {"metrics", "metrics.csv"}) {
        EXPECT_TRUE(ends(Method::GET, {"v1", "jobs", id, part}, 1)) << part;
        EXPECT_FALSE(ends(Method::GET, {"v1", "jobs", id, part}, 2)) << part;
    }
}

TEST_F(Abandoned, few_bulk_actions_and_retries_of_folds_run_at_a_time) {
    service.services.heavy_requests = std::make_shared<HeavyRequests>(
        HeavyRequests::Limits{.of_token = 0, .in_all = 2, .patience_s = 0});
    service.expect(429, "POST", "/v1/jobs/bulk",
                   {{"action", "cancel"}, {"filter", {{"project", "default"}}}});
    service.expect(429, "POST", "/v1/cross-validations/cv_00000000000000000000000000/retry",
                   Json::object());
}

}    // namespace
}    // namespace slipway
