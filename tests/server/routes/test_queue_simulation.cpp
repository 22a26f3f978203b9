#include <gtest/gtest.h>

#include "api/base/id.h"
#include "api/spec/documents.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct SimulateRoute : testing::Test {
    TestService service;
    QueueChange asked;
    SimulatedQueue found;

    SimulateRoute() {
        service.ready_dataset("points");
        service.ready_dataset("points", "vision");
        found.now = system_clock().now();
        found.until = found.now + std::chrono::hours{1};
        found.complete = true;
        service.services.simulate_queue = [this](const QueueChange& change) {
            asked = change;
            return found;
        };
    }

    Json simulate(const Json& body) {
        Json answer = service.expect(200, "POST", "/v1/queue/simulate", body);
        EXPECT_TRUE(check_document("QueueSimulation", answer).empty()) << answer.dump(2);
        return answer;
    }

    std::string refused(const Json& body) {
        return service.expect(422, "POST", "/v1/queue/simulate", body)["errors"][0].value("pointer",
                                                                                          "");
    }
};

TEST_F(SimulateRoute, a_job_spec_becomes_a_job_of_the_queue) {
    Json spec = TestService::spec();
    spec["accelerator"] = {{"core_ids", {5}}};
    spec["queue"] = {{"class", "high"}};
    spec["limits"] = {{"max_wall_s", 100}, {"max_core_s", 50}};
    found.with = StartEstimate{.at = found.now + std::chrono::seconds{60},
                               .host = "here",
                               .cores = {5},
                               .from = "typical"};
    found.wait_code = "core_busy";
    found.wait_message = "core 5 is busy";
    const Json answer = simulate({{"job", spec}, {"more_hosts", 2}, {"cores_per_host", 4}});
    ASSERT_TRUE(asked.new_job);
    EXPECT_EQ(asked.new_job->class_rank, 1);
    EXPECT_EQ(asked.new_job->core_id, 5);
    EXPECT_EQ(asked.new_job->runs_at_most, std::chrono::seconds{50});
    EXPECT_EQ(asked.new_job->dataset_state, "ready");
    EXPECT_TRUE(asked.new_job->due);
    EXPECT_EQ(asked.more_hosts, 2);
    EXPECT_EQ(asked.cores_per_host, 4);
    EXPECT_EQ(answer["job"]["starts_in_s"], 60.0);
    EXPECT_EQ(answer["job"]["host"], "here");
    EXPECT_EQ(answer["job"]["estimate_from"], "typical");
    EXPECT_EQ(answer["job"]["code"], "core_busy");
    EXPECT_EQ(answer["job"]["job_id"], nullptr);
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs")["items"].size(), 0U) << "nothing is stored";
}

TEST_F(SimulateRoute, a_job_of_the_queue_may_change_its_class) {
    const std::string job = service.submit();
    found.without = StartEstimate{.at = found.now, .from = "known"};
    const Json answer = simulate({{"job_id", job}, {"class", "urgent"}});
    EXPECT_EQ(asked.job_id, job);
    EXPECT_EQ(asked.class_rank, 0);
    EXPECT_EQ(answer["job"]["job_id"], job);
    EXPECT_EQ(answer["job"]["starts_at"], nullptr) << "not within the bounds";
    EXPECT_EQ(answer["job"]["unchanged_starts_at"], to_rfc3339(found.now));
    service.run(job);
    EXPECT_EQ(service.expect(409, "POST", "/v1/queue/simulate", {{"job_id", job}})["code"],
              "conflict");
    service.expect(404, "POST", "/v1/queue/simulate", {{"job_id", new_id("job")}});
}

TEST_F(SimulateRoute, what_means_nothing_is_refused_by_name) {
    EXPECT_EQ(refused(Json::object()), "/more_hosts");
    EXPECT_EQ(refused({{"more_hosts", 65}}), "/more_hosts");
    EXPECT_EQ(refused({{"more_hosts", 1}, {"cores_per_host", 9}}), "/cores_per_host");
    EXPECT_EQ(refused({{"more_hosts", 1}, {"class", "high"}}), "/class");
    EXPECT_EQ(refused({{"job", TestService::spec()}, {"class", "high"}}), "/class");
    EXPECT_EQ(refused({{"job", TestService::spec()}, {"job_id", new_id("job")}}), "/job_id");
    EXPECT_EQ(refused({{"job_id", "job_x"}}), "/job_id");
    Json spec = TestService::spec();
    spec["train"]["epochs"] = 0;
    EXPECT_EQ(refused({{"job", spec}}), "/job/train/epochs");
    spec = TestService::spec();
    spec["data"]["dataset"] = "nothing";
    EXPECT_EQ(refused({{"job", spec}}), "/job/data/dataset");
}

TEST_F(SimulateRoute, other_projects_are_counted_and_not_named) {
    Json spec = TestService::spec();
    const std::string bound = service.token(Role::editor, {"vision"});
    EXPECT_EQ(service.call_as(bound, "POST", "/v1/queue/simulate", {{"job", spec}}).status, 403);
    spec["project"] = "vision";
    const std::string foreign = service.submit();
    EXPECT_EQ(service.call_as(bound, "POST", "/v1/queue/simulate", {{"job_id", foreign}}).status,
              404);
    found.later = {{.job_id = foreign, .project = "default", .before = found.now, .after = {}},
                   {.job_id = new_id("job"),
                    .project = "vision",
                    .before = found.now,
                    .after = found.now + std::chrono::seconds{9}}};
    found.wait_code = "behind";
    found.wait_message = "core 1 is reserved for job " + foreign + ", which is ahead in the queue";
    found.blocking_job = foreign;
    const auto response = service.call_as(bound, "POST", "/v1/queue/simulate", {{"job", spec}});
    ASSERT_EQ(response.status, 200) << response.body;
    EXPECT_EQ(response.body.find(foreign), std::string::npos);
    const Json answer = Json::parse(response.body);
    EXPECT_EQ(answer["delayed_jobs"], 2);
    ASSERT_EQ(answer["delayed"].size(), 1U);
    EXPECT_EQ(answer["delayed"][0]["by_s"], 9.0);
    EXPECT_EQ(
        service
            .call_as(service.token(Role::viewer), "POST", "/v1/queue/simulate", {{"more_hosts", 1}})
            .status,
        403);
}

TEST_F(SimulateRoute, estimates_are_shown_in_the_queue_and_in_explain) {
    const std::string job = service.submit();
    const std::string other = service.submit();
    service.services.estimate_starts = [&](const std::vector<std::string>& ids) {
        EXPECT_FALSE(ids.empty());
        return std::map<std::string, StartEstimate>{{job, {.at = found.now, .from = "progress"}}};
    };
    service.services.explain_wait = [](std::string_view) {
        return WaitExplanation{
            .code = "waiting_for_cores", .message = "m", .cores = {}, .blocking_job = {}};
    };
    const Json queue = service.expect(200, "GET", "/v1/queue");
    EXPECT_TRUE(check_document("QueueList", queue).empty()) << queue.dump(2);
    EXPECT_EQ(queue["items"][0]["estimated_start_at"], to_rfc3339(found.now));
    EXPECT_EQ(queue["items"][0]["estimate_from"], "progress");
    EXPECT_EQ(queue["items"][1]["job_id"], other);
    EXPECT_EQ(queue["items"][1]["estimated_start_at"], nullptr);
    const Json why = service.expect(200, "GET", "/v1/jobs/" + job + "/explain");
    EXPECT_TRUE(check_document("Explanation", why).empty()) << why.dump(2);
    EXPECT_EQ(why["estimated_start_at"], to_rfc3339(found.now));
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + job)["queue"]["eta_s"], 0.0) << "by now";
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + other)["queue"]["eta_s"], nullptr);
}

}    // namespace
}    // namespace slipway
