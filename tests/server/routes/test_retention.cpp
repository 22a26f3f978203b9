#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "tests/server/routes/test_service.h"

namespace slipway {

namespace {

class RetentionRoutes : public ::testing::Test {
protected:
    Json rule(const std::string& query, const std::string& kind) {
        const Json answer = service.expect(200, "GET", "/v1/retention" + query);
        EXPECT_TRUE(check_document("RetentionList", answer).empty());
        for (const Json& one : answer["items"])
            if (one["kind"] == kind) return one;
        ADD_FAILURE() << "no rule for " << kind;
        return {};
    }

    TestService service;
};

TEST_F(RetentionRoutes, the_policy_is_shown_with_what_it_would_remove) {
    for (const char* kind : {"events", "logs", "metrics", "checkpoints", "jobs"}) {
        const Json kept = rule("", kind);
        EXPECT_TRUE(kept["days"].is_null());
        EXPECT_EQ(kept["due_jobs"], 0);
    }
    EXPECT_EQ(rule("?metrics_days=30", "metrics")["days"], 30);
    EXPECT_TRUE(rule("?metrics_days=30", "logs")["days"].is_null());
}

TEST_F(RetentionRoutes, what_is_no_number_of_days_is_refused) {
    for (const char* query : {"?metrics_days=0", "?jobs_days=-1", "?logs_days=x", "?days=3"})
        EXPECT_EQ(service.call("GET", std::string("/v1/retention") + query).status, 422) << query;
    EXPECT_EQ(service.call_as(service.token(Role::editor), "GET", "/v1/retention").status, 403);
}

}    // namespace

}    // namespace slipway
