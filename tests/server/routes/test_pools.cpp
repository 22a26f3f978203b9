#include <gtest/gtest.h>

#include "api/spec/documents.h"
#include "scheduler/store/host_pools.h"
#include "scheduler/store/hosts.h"
#include "tests/server/routes/test_service.h"

namespace slipway {
namespace {

struct Pools : testing::Test {
    TestService service;
    Pools() {
        service.ready_dataset("points");
        store::register_host(service.store, {.name = "here"});
        store::register_host(service.store, {.name = "there", .pool = "slurm"});
    }

    static Json spec_of(const std::string& pool, Json changes = Json::object()) {
        changes["queue"]["pool"] = pool;
        Json spec = TestService::spec();
        spec.merge_patch(changes);
        return spec;
    }

    Json problem_of(const std::string& path, const Json& body) {
        return service.expect(422, "POST", path, body)["errors"].at(0);
    }
};

TEST_F(Pools, a_job_may_name_one_that_there_is) {
    for (const char* pool : {"local", "slurm", "any"}) {
        const Json job = service.expect(201, "POST", "/v1/jobs", spec_of(pool));
        EXPECT_EQ(job["spec"]["queue"]["pool"], pool);
    }
    const Json problem = problem_of("/v1/jobs", spec_of("sluurm"));
    EXPECT_EQ(problem["pointer"], "/queue/pool");
    EXPECT_EQ(problem["code"], "no_such_pool");
    EXPECT_EQ(problem["message"],
              "queue.pool must be a pool that hosts are of, or any; the hosts are of local, slurm, "
              "got \"sluurm\"");
    EXPECT_EQ(problem["allowed"], Json({"local", "slurm", "any"}));
    EXPECT_EQ(problem_of("/v1/jobs?dry_run=true", spec_of("tpu"))["code"], "no_such_pool");
    EXPECT_EQ(problem_of("/v1/jobs", spec_of("two words"))["pointer"], "/queue/pool");
    Json number = TestService::spec();
    number["queue"]["pool"] = 3;
    EXPECT_EQ(problem_of("/v1/jobs", number)["pointer"], "/queue/pool");
}

TEST_F(Pools, the_job_of_a_sweep_and_of_a_cross_validation_may_too) {
    Json sweep{{"objective", {{"metric", "val_loss"}, {"mode", "min"}}},
               {"space", {{"train.seed", {{"type", "choice"}, {"values", {1, 2}}}}}},
               {"algorithm", {{"name", "grid"}}},
               {"job", spec_of("tpu")}};
    EXPECT_EQ(problem_of("/v1/sweeps", sweep)["pointer"], "/job/queue/pool");
    sweep["job"] = spec_of("slurm");
    sweep["job"]["labels"] = {{"team", "\u202e"}};
    EXPECT_EQ(problem_of("/v1/sweeps", sweep)["pointer"], "/job/labels/team");
    sweep["job"] = spec_of("slurm");
    service.expect(201, "POST", "/v1/sweeps", sweep);
    Json of_fold = spec_of("tpu");
    of_fold.erase("name");
    of_fold["data"].erase("split");
    const Json folds{{"split", {{"method", "kfold"}, {"folds", 3}}}, {"job", of_fold}};
    EXPECT_EQ(problem_of("/v1/cross-validations", folds)["pointer"], "/job/queue/pool");
}

TEST_F(Pools, a_slice_and_a_limit_of_memory_are_judged_by_the_hosts_of_the_pool) {
    store::register_host(service.store,
                         {.name = "there-2", .pool = "slurm", .job_memory_bytes = 1 << 30});
    const Json slice{{"accelerator", {{"cores", nullptr}, {"slice", {{"cores", 16}}}}}};
    service.expect(201, "POST", "/v1/jobs", spec_of("slurm", slice));
    const Json problem = problem_of("/v1/jobs", spec_of("local", slice));
    EXPECT_EQ(problem["code"], "slice_unavailable");
    EXPECT_NE(
        problem["message"].get<std::string>().find("1 host of 8 cores is known in pool local"),
        std::string::npos)
        << problem["message"];
}

TEST_F(Pools, lists_and_figures_show_them) {
    const Json hosts = service.expect(200, "GET", "/v1/hosts");
    EXPECT_EQ(hosts["items"][0]["pool"], "local");
    EXPECT_EQ(hosts["items"][1]["pool"], "slurm");
    EXPECT_EQ(service.expect(200, "GET", "/v1/cores?host=there")["items"][0]["pool"], "slurm");
    service.submit(spec_of("slurm"));
    service.submit();
    const Json queue = service.expect(200, "GET", "/v1/queue");
    EXPECT_TRUE(check_document("QueueList", queue).empty());
    EXPECT_EQ(queue["items"][0]["pool"], "slurm");
    EXPECT_EQ(queue["items"][1]["pool"], nullptr);
    const Json stats = service.expect(200, "GET", "/v1/queue/stats");
    EXPECT_TRUE(check_document("QueueStats", stats).empty()) << stats.dump(2);
    ASSERT_EQ(stats["pools"].size(), 2U);
    EXPECT_EQ(stats["pools"][0]["pool"], "local");
    EXPECT_EQ(stats["pools"][0]["ready"], 0);
    EXPECT_EQ(stats["pools"][1]["ready"], 1);
    EXPECT_EQ(stats["pools"][1]["hosts"], 1);
    EXPECT_EQ(stats["pools"][1]["cores"]["free"], 8);
    EXPECT_EQ(stats["default_pool"], nullptr);
    store::set_default_pool(service.store, "local");
    EXPECT_EQ(service.expect(200, "GET", "/v1/queue/stats")["default_pool"], "local");
}

// Goal: a job that states no limit of time has that of its pool, wherever jobs are made.
TEST_F(Pools, a_job_without_a_limit_of_time_gets_that_of_its_pool) {
    const auto limits_of = [](const Json& job) { return job["spec"]["limits"]; };
    const auto submitted = [&](const Json& spec) {
        return service.expect(201, "POST", "/v1/jobs", spec);
    };
    EXPECT_FALSE(limits_of(submitted(spec_of("slurm"))).contains("max_wall_s"));
    store::set_time_limits(service.store, {{"slurm", 600}, {"any", 60}});
    const Json job = submitted(spec_of("slurm"));
    EXPECT_EQ(limits_of(job)["max_wall_s"], 600);
    const std::string id = job["id"];
    EXPECT_EQ(service.expect(200, "GET", "/v1/jobs/" + id + "/explain")["max_wall_s"], 600);
    EXPECT_EQ(limits_of(submitted(spec_of("any")))["max_wall_s"], 60);
    EXPECT_EQ(limits_of(submitted(TestService::spec()))["max_wall_s"], 60);
    EXPECT_FALSE(limits_of(submitted(spec_of("local"))).contains("max_wall_s"));
    const Json own = submitted(spec_of("slurm", {{"limits", {{"max_core_s", 5}}}}));
    EXPECT_FALSE(limits_of(own).contains("max_wall_s"));
    EXPECT_EQ(
        limits_of(submitted(spec_of("slurm", {{"limits", {{"max_wall_s", 7}}}})))["max_wall_s"], 7);
    store::set_default_pool(service.store, "slurm");
    EXPECT_EQ(limits_of(submitted(TestService::spec()))["max_wall_s"], 600);
    EXPECT_EQ(service.expect(200, "GET", "/v1/capabilities")["limits"]["pool_max_wall_s"],
              Json({{"any", 60}, {"slurm", 600}}));
    store::set_time_limits(service.store, {{"local", 5}});
    EXPECT_EQ(store::list_time_limits(service.store), (store::TimeLimits{{"local", 5}}));
}

TEST_F(Pools, more_hosts_of_a_simulation_are_of_one) {
    QueueChange asked;
    service.services.simulate_queue = [&](const QueueChange& change) {
        asked = change;
        return SimulatedQueue{};
    };
    const auto simulate = [&](const Json& body) {
        service.expect(200, "POST", "/v1/queue/simulate", body);
    };
    simulate({{"more_hosts", 2}, {"pool", "slurm"}});
    EXPECT_EQ(asked.pool, "slurm");
    simulate({{"more_hosts", 2}, {"job", spec_of("slurm")}});
    EXPECT_EQ(asked.pool, "local");
    EXPECT_EQ(asked.new_job->pool, "slurm");
    store::set_default_pool(service.store, "slurm");
    simulate({{"more_hosts", 2}, {"job", TestService::spec()}});
    EXPECT_EQ(asked.pool, "slurm");
    EXPECT_EQ(asked.new_job->pool, "slurm");
    EXPECT_EQ(
        problem_of("/v1/queue/simulate", {{"job", spec_of("slurm")}, {"pool", "slurm"}})["pointer"],
        "/pool");
    EXPECT_EQ(problem_of("/v1/queue/simulate", {{"job", spec_of("tpu")}})["pointer"],
              "/job/queue/pool");
}

}    // namespace
}    // namespace slipway
