#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "scheduler/store/jobs.h"
#include "tests/server/routes/test_service.h"

// What one token or one project may hold, asked for by many clients at once.
namespace slipway {
namespace {

struct TenantLimits : testing::Test {
    TestService service;

    /// How many of 16 requests at once were answered 201; the others must be 429 and name `option`.
    int made(const std::string& path, const std::vector<Json>& bodies, const std::string& option) {
        std::atomic<int> made = 0;
        std::vector<std::jthread> clients;
        for (const Json& body : bodies)
            clients.emplace_back([&, body] {
                const auto answer = service.call("POST", path, body);
                if (answer.status == 201) {
                    ++made;
                    return;
                }
                EXPECT_EQ(answer.status, 429) << answer.body;
                EXPECT_EQ(answer.header("Retry-After"), "5");
                EXPECT_NE(answer.body.find(option), std::string::npos) << answer.body;
            });
        clients.clear();
        return made;
    }
};

TEST_F(TenantLimits, of_queued_jobs_count_a_project) {
    service.ready_dataset("points");
    service.services.limits.queued_jobs = 5;
    const std::vector<Json> jobs(16, TestService::spec());
    EXPECT_EQ(made("/v1/jobs", jobs, "--queued-jobs-max"), 5);
    // One that has left the queue makes room, once the count is read again.
    const Json first = service.expect(200, "GET", "/v1/jobs")["items"][0];
    service.expect(200, "POST", "/v1/jobs/" + first["id"].get<std::string>() + "/cancel");
    const std::string token = service.expect(200, "GET", "/v1/me")["token_id"];
    for (int read = 0; read < 2; ++read) {
        const auto counts = store::count_queued_jobs(service.store, "default", token);
        EXPECT_EQ(counts.of_project, 4);
        EXPECT_EQ(counts.of_token, 4);
        const auto others = store::count_queued_jobs(service.store, "other", "tok_other");
        EXPECT_EQ(others.of_project + others.of_token, 0);
        store::fold_job_counts(service.store);
    }
}

// A replay makes no job: it neither counts as one, nor is it refused when there may be no more.
TEST_F(TenantLimits, of_queued_jobs_count_no_replay) {
    service.ready_dataset("points");
    service.services.limits.queued_jobs = 3;
    const auto submit = [&](const std::string& key) {
        return service.call("POST", "/v1/jobs", TestService::spec(), {{"Idempotency-Key", key}});
    };
    const auto first = submit("first");
    EXPECT_EQ(first.status, 201);
    for (int replay = 0; replay < 5; ++replay)
        EXPECT_EQ(submit("first").body, first.body);
    EXPECT_EQ(submit("second").status, 201);
    EXPECT_EQ(submit("third").status, 201);
    EXPECT_EQ(submit("fourth").status, 429);
    EXPECT_EQ(submit("first").body, first.body);
    EXPECT_EQ(submit("fourth").status, 429) << "the one that was refused has no answer";
}

// A token that may name any project has one limit and not that of each project.
TEST_F(TenantLimits, of_queued_jobs_and_checks_count_a_token_in_all_projects) {
    service.services.limits.queued_jobs = 5;
    service.services.limits.checking_datasets = 3;
    std::vector<Json> jobs;
    std::vector<Json> datasets;
    for (int i = 0; i < 16; ++i) {
        const std::string project = "p" + std::to_string(i);
        service.ready_dataset("points", project);
        jobs.push_back(TestService::spec());
        jobs.back()["project"] = project;
        datasets.push_back({{"name", "d"},
                            {"project", project},
                            {"format", "csv"},
                            {"source", {{"path", "points"}}}});
    }
    EXPECT_EQ(made("/v1/jobs", jobs, "--queued-jobs-max"), 5);
    EXPECT_EQ(made("/v1/datasets", datasets, "--checking-datasets-max"), 3);
    const std::string another = service.token(Role::editor);
    datasets[0]["name"] = "another";
    EXPECT_EQ(service.call_as(another, "POST", "/v1/jobs", jobs[0]).status, 201);
    EXPECT_EQ(service.call_as(another, "POST", "/v1/datasets", datasets[0]).status, 201);
}

TEST_F(TenantLimits, of_requests_are_of_a_token_and_tell_when_to_come_again) {
    service.services.request_rates = std::make_shared<RequestRates>(0.5, 3);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(service.call("GET", "/v1/me").status, 200);
    const client::ClientResponse refused = service.call("GET", "/v1/me");
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(refused.header("Retry-After"), "2");
    EXPECT_EQ(Json::parse(refused.body)["code"], "rate_limited");
    EXPECT_EQ(service.call("POST", "/v1/jobs", TestService::spec()).status, 429);
    EXPECT_EQ(service.call_as("", "GET", "/healthz").status, 200);
    service.services.request_rates = std::make_shared<RequestRates>(0, 1);
    EXPECT_EQ(service.call("GET", "/v1/me").status, 200);
}

TEST_F(TenantLimits, of_tokens_count_those_that_one_has_made) {
    service.services.limits.tokens = 5;
    const std::vector<Json> tokens(16, Json{{"name", "t"}, {"role", "viewer"}});
    EXPECT_EQ(made("/v1/tokens", tokens, "--tokens-max"), 5);
    const std::string id = service.expect(200, "GET", "/v1/tokens")["items"][0]["id"];
    service.call("DELETE", "/v1/tokens/" + id);
    EXPECT_EQ(service.call("POST", "/v1/tokens", tokens[0]).status, 201);
}

TEST_F(TenantLimits, of_datasets_count_those_of_a_project_that_wait) {
    service.services.limits.checking_datasets = 5;
    std::vector<Json> datasets;
    for (int i = 0; i < 16; ++i)
        datasets.push_back({{"name", "d" + std::to_string(i)},
                            {"format", "csv"},
                            {"source", {{"path", "points"}}}});
    EXPECT_EQ(made("/v1/datasets", datasets, "--checking-datasets-max"), 5);
}

TEST_F(TenantLimits, of_stored_bytes_count_announced_uploads) {
    service.services.limits.stored_bytes = 50;
    const std::vector<Json> uploads(16, Json{{"filename", "x"}, {"size", 10}});
    EXPECT_EQ(made("/v1/uploads", uploads, "--stored-max-gib"), 5);
}

// The numbers of projects are for good: one token must not take all of them.
TEST_F(TenantLimits, of_projects_count_those_that_were_new) {
    service.services.limits.projects = 5;
    service.ready_dataset("points", "there");
    std::vector<Json> datasets;
    for (int i = 0; i < 16; ++i)
        datasets.push_back({{"name", "d"},
                            {"project", "p" + std::to_string(i)},
                            {"format", "csv"},
                            {"source", {{"path", "points"}}}});
    EXPECT_EQ(made("/v1/datasets", datasets, "--projects-max"), 5);
    datasets[0]["project"] = "there";
    EXPECT_EQ(service.call("POST", "/v1/datasets", datasets[0]).status, 201);
    datasets[0]["project"] = "another";
    EXPECT_EQ(service.call("POST", "/v1/datasets", datasets[0]).status, 429);
    const std::string editor = service.token(Role::editor);
    EXPECT_EQ(service.call_as(editor, "POST", "/v1/datasets", datasets[0]).status, 201);
}

TEST_F(TenantLimits, of_splits_count_a_project_and_a_token) {
    service.services.limits.making_splits = 5;
    for (const char* project : {"a", "b", "default"})
        service.ready_dataset("points", project);
    const std::string path = "/v1/datasets/points/splits";
    const Json split{{"method", "kfold"}, {"folds", 3}};
    EXPECT_EQ(made(path + "?project=a", std::vector<Json>(3, split), ""), 3);
    EXPECT_EQ(made(path + "?project=b", std::vector<Json>(16, split), "--making-splits-max"), 2);
    const std::string another = service.token(Role::editor);
    const auto ask = [&](const char* project) {
        return service.call_as(another, "POST", path + "?project=" + project, split).status;
    };
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(ask("a"), 201);
    EXPECT_EQ(ask("a"), 429) << "the project has five, of two tokens";
    EXPECT_EQ(ask("default"), 201);
}

TEST_F(TenantLimits, of_sweeps_count_a_project) {
    service.services.limits.active_sweeps = 3;
    const auto sweep = [](const char* project) {
        return Json{{"project", project},
                    {"objective", {{"metric", "cost"}, {"mode", "min"}}},
                    {"space", {{"x", {{"type", "uniform"}, {"min", 0}, {"max", 1}}}}},
                    {"algorithm", {{"name", "random"}}},
                    {"limits", {{"max_trials", 3}}}};
    };
    EXPECT_EQ(made("/v1/sweeps", std::vector<Json>(8, sweep("a")), "--active-sweeps-max"), 3);
    EXPECT_EQ(made("/v1/sweeps", {sweep("b")}, ""), 1) << "another project has its own";
    const std::string one = service.expect(200, "GET", "/v1/sweeps?project=a")["items"][0]["id"];
    service.expect(200, "POST", "/v1/sweeps/" + one + "/stop", Json::object());
    EXPECT_EQ(made("/v1/sweeps", std::vector<Json>(2, sweep("a")), "--active-sweeps-max"), 1);
}

TEST_F(TenantLimits, are_told_and_zero_is_none) {
    service.services.limits = {.queued_jobs = 0,
                               .checking_datasets = 0,
                               .making_splits = 0,
                               .projects = 0,
                               .open_uploads = 0,
                               .stored_bytes = 0,
                               .tokens = 0};
    const Json limits = service.expect(200, "GET", "/v1/capabilities")["limits"];
    EXPECT_EQ(limits["queued_jobs"], 0);
    EXPECT_EQ(limits["making_splits"], 0);
    EXPECT_EQ(limits["active_sweeps"], 1000);
    EXPECT_EQ(limits["upload_bytes"], 1 << 20);
    EXPECT_EQ(made("/v1/uploads", std::vector<Json>(16, Json{{"filename", "x"}, {"size", 1}}), ""),
              16);
}

}    // namespace
}    // namespace slipway
