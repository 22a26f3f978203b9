#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Audit : testing::Test {
    TestService service;
    Audit() { service.ready_dataset("points"); }

    Json list(const std::string& query = "") {
        const Json answer = service.expect(200, "GET", "/v1/audit" + query);
        EXPECT_TRUE(check_document("AuditList", answer).empty()) << answer.dump(2);
        return answer["items"];
    }
};

TEST_F(Audit, what_was_changed_and_by_whom_is_listed_newest_first) {
    const std::string id = service.submit();
    service.expect(200, "POST", "/v1/jobs/" + id + "/cancel");
    service.expect(200, "GET", "/v1/jobs/" + id);
    const Json entries = list();
    ASSERT_GE(entries.size(), 2U);
    EXPECT_EQ(entries[0]["action"], "cancel_job");
    EXPECT_EQ(entries[0]["object"], id);
    EXPECT_EQ(entries[1]["action"], "create_job");
    EXPECT_EQ(entries[0]["token_id"], service.expect(200, "GET", "/v1/me")["token_id"]);
    EXPECT_TRUE(entries[0]["request_id"].get<std::string>().starts_with("req_"));
}

TEST_F(Audit, each_job_of_a_bulk_action_is_an_entry) {
    const std::string first = service.submit();
    const std::string second = service.submit();
    service.expect(200, "POST", "/v1/jobs/bulk",
                   {{"action", "pause"}, {"filter", {{"ids", {first, second}}}}});
    const Json entries = list("?action=bulk_jobs");
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0]["detail"], (Json{{"action", "pause"}}));
    service.expect(200, "POST", "/v1/jobs/bulk?dry_run=true",
                   {{"action", "cancel"}, {"filter", {{"ids", {first, second}}}}});
    EXPECT_EQ(list("?action=bulk_jobs").size(), 2U) << "a dry run is no action";
}

TEST_F(Audit, it_is_narrowed_and_paged) {
    const std::string id = service.submit();
    service.submit();
    service.expect(200, "POST", "/v1/jobs/" + id + "/kill");
    EXPECT_EQ(list("?object=" + id).size(), 2U);
    EXPECT_EQ(list("?object=" + id + "&action=kill_job").size(), 1U);
    EXPECT_EQ(list("?token=tok_nobody").size(), 0U);
    const Json first = service.expect(200, "GET", "/v1/audit?limit=1");
    const Json second = service.expect(
        200, "GET", "/v1/audit?limit=1&cursor=" + first["next_cursor"].get<std::string>());
    EXPECT_LT(second["items"][0]["id"], first["items"][0]["id"]);
}

TEST_F(Audit, only_an_admin_of_all_projects_reads_it) {
    EXPECT_EQ(service.call_as(service.token(Role::editor), "GET", "/v1/audit").status, 403);
    EXPECT_EQ(service.call_as(service.token(Role::admin, {"default"}), "GET", "/v1/audit").status,
              403);
}

}    // namespace
}    // namespace slipway
