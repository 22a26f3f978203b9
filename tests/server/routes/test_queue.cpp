#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "scheduler/store/decisions.h"
#include "scheduler/store/hosts.h"
#include "scheduler/store/jobs.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct QueueStatsRoute : testing::Test {
    TestService service;
    QueueStatsRoute() {
        store::register_host(service.store, {.name = "here", .cores = 8, .physical_cpus = 2});
        service.ready_dataset("points");
        service.ready_dataset("points", "vision");
    }

    Json stats(const std::string& query = "") {
        Json found = service.expect(200, "GET", "/v1/queue/stats" + query);
        EXPECT_TRUE(check_document("QueueStats", found).empty()) << found.dump(2);
        return found;
    }

    static std::int64_t sum(const Json& rows) {
        std::int64_t jobs = 0;
        for (const Json& row : rows)
            jobs += row["jobs"].get<std::int64_t>();
        return jobs;
    }
};

TEST_F(QueueStatsRoute, an_empty_queue_has_numbers_too) {
    const Json empty = stats();
    EXPECT_EQ(empty["jobs"], 0);
    EXPECT_TRUE(empty["by_class"].empty());
    EXPECT_EQ(empty["rates"].size(), 3U);
    EXPECT_EQ(empty["rates"][0]["wait_mean_s"], nullptr);
    EXPECT_EQ(empty["cores"]["free"], 8);
    EXPECT_EQ(empty["cores"]["utilisation"], 0.0);
}

TEST_F(QueueStatsRoute, jobs_are_counted_by_class_project_and_reason) {
    const std::string runs = service.submit();
    service.run(runs, 1);
    service.submit();
    service.submit({{"queue", {{"class", "urgent"}}}});
    service.submit({{"project", "vision"}});
    service.submit({{"limits", {{"start_after", "2100-01-01T00:00:00Z"}}}});
    service.services.count_waits = [](const std::vector<std::string>& projects) {
        EXPECT_TRUE(projects.empty());
        return WaitCounts{.starting = 1, .by_code = {{"waiting_for_cores", 1}}};
    };
    const Json all = stats();
    EXPECT_EQ(all["jobs"], 4);
    EXPECT_EQ(all["ready"], 3);
    EXPECT_EQ(all["by_class"][0]["class"], "urgent");
    EXPECT_EQ(all["by_class"][1]["jobs"], 3);
    EXPECT_GE(all["by_class"][1]["oldest_ready_s"].get<double>(), 0);
    EXPECT_EQ(all["by_project"][0]["project"], "default");
    EXPECT_EQ(all["by_project"][0]["ready"], 2);
    EXPECT_EQ(all["other_projects"], 0);
    for (const char* rows : {"by_class", "by_project", "by_reason"})
        EXPECT_EQ(sum(all[rows]), 4) << rows;
    std::map<std::string, int> reasons;
    for (const Json& row : all["by_reason"])
        reasons[row["code"].get<std::string>()] = row["jobs"].get<int>();
    EXPECT_EQ(reasons,
              (std::map<std::string, int>{
                  {"in_line", 1}, {"start_after", 1}, {"starting", 1}, {"waiting_for_cores", 1}}));
    EXPECT_EQ(all["rates"][0]["submitted"], 5);
    EXPECT_EQ(all["rates"][0]["started"], 1);
    EXPECT_EQ(all["cores"]["held"], 1);
    EXPECT_EQ(all["cores"]["utilisation"], 0.125);
}

TEST_F(QueueStatsRoute, decisions_are_listed_and_name_no_foreign_job) {
    const std::string mine = service.submit({{"project", "vision"}});
    const std::string foreign = service.submit();
    store::record_decisions(
        service.store,
        {{.job_id = mine,
          .kind = "wait",
          .reason = {.code = "core_busy",
                     .message = "core 1 is busy with job " + foreign,
                     .related_job = foreign}},
         {.job_id = foreign, .kind = "wait", .reason = {.code = "quota", .message = "m"}}});
    const Json all = service.expect(200, "GET", "/v1/decisions");
    EXPECT_TRUE(check_document("DecisionList", all).empty()) << all.dump(2);
    ASSERT_EQ(all["items"].size(), 2U);
    EXPECT_EQ(all["items"][0]["job_id"], foreign);
    EXPECT_EQ(all["items"][0]["host"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", "/v1/decisions?job=" + mine)["items"][0]["related_job"],
              foreign);
    const auto bound =
        service.call_as(service.token(Role::viewer, {"vision"}), "GET", "/v1/decisions");
    EXPECT_EQ(bound.body.find(foreign), std::string::npos) << bound.body;
    EXPECT_EQ(Json::parse(bound.body)["items"].size(), 1U);
    EXPECT_EQ(Json::parse(bound.body)["items"][0]["message"],
              "core 1 is busy with a job of another project");
}

TEST_F(QueueStatsRoute, who_is_bound_to_projects_sees_those) {
    service.submit();
    service.submit({{"project", "vision"}});
    const std::string bound = service.token(Role::viewer, {"vision"});
    std::vector<std::string> asked;
    service.services.count_waits = [&](const std::vector<std::string>& projects) {
        asked = projects;
        return WaitCounts{};
    };
    const Json own = Json::parse(service.call_as(bound, "GET", "/v1/queue/stats").body);
    EXPECT_EQ(asked, std::vector<std::string>{"vision"});
    EXPECT_EQ(own["jobs"], 1);
    EXPECT_EQ(own["by_project"].size(), 1U);
    EXPECT_EQ(own["rates"][0]["submitted"], 1);
    EXPECT_EQ(service.call_as(bound, "GET", "/v1/queue/stats?project=default").status, 404);
    EXPECT_EQ(stats("?project=vision")["jobs"], 1);
    service.expect(422, "GET", "/v1/queue/stats?class=high");
}

}    // namespace
}    // namespace slipway
