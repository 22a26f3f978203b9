// Goal: a job that names a pool has to do with the hosts of that pool alone.
#include "scheduler/placement/placement.h"

#include "tests/scheduler/placement/wait_codes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>

#include "scheduler/placement/fair_share.h"
#include "scheduler/placement/known_waits.h"
#include "scheduler/placement/simulation.h"

namespace slipway {
namespace {

using std::chrono::seconds;

void add_host(Snapshot& snapshot, const std::string& host, const std::string& pool, int cores = 8) {
    for (int core = 1; core <= cores; ++core)
        snapshot.cores.push_back({.host = host, .pool = pool, .core = core, .held_by = {}});
}

/// Hosts a and b of the pools local and slurm.
Snapshot two_pools() {
    Snapshot snapshot{.queue = {}, .cores = {}, .now = Instant{} + seconds{1000}};
    add_host(snapshot, "a", "local");
    add_host(snapshot, "b", "slurm");
    return snapshot;
}

WaitingJob& add_job(Snapshot& snapshot, const std::string& id, const std::string& pool,
                    int cores = 1) {
    snapshot.queue.push_back({.job_id = id,
                              .queued_at = Instant{} + seconds{snapshot.queue.size()},
                              .cores = cores,
                              .core_id = {},
                              .due_at = {},
                              .project = "p",
                              .pool = pool});
    return snapshot.queue.back();
}

/// The job holds these cores of the host, from the first one on.
RunningJob& run(Snapshot& snapshot, const std::string& id, const std::string& host, int cores) {
    int left = cores;
    std::string pool;
    for (CoreSlot& slot : snapshot.cores) {
        if (slot.host != host || !slot.held_by.empty() || left == 0) continue;
        slot.held_by = id;
        pool = slot.pool;
        --left;
    }
    snapshot.running.push_back({.job_id = id, .project = "q", .cores = cores, .pool = pool});
    return snapshot.running.back();
}

std::string host_of(const Plan& plan, const std::string& id) {
    const auto found = std::ranges::find(plan.start, id, &PlacedJob::job_id);
    return found == plan.start.end() ? "none" : found->host;
}

TEST(Pools, a_job_runs_on_a_host_of_its_pool_and_one_without_a_pool_on_any) {
    Snapshot snapshot = two_pools();
    run(snapshot, "older", "b", 7);    // the fullest host is the first choice
    add_job(snapshot, "here", "local");
    add_job(snapshot, "there", "slurm");
    add_job(snapshot, "wide", "", 7);
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(host_of(plan, "here"), "a");
    EXPECT_EQ(host_of(plan, "there"), "b");
    EXPECT_EQ(host_of(plan, "wide"), "a");
}

TEST(Pools, a_core_by_number_is_one_of_the_pool) {
    Snapshot snapshot = two_pools();
    add_job(snapshot, "x", "slurm").core_id = 3;
    EXPECT_EQ(make_plan(snapshot).start.at(0),
              (PlacedJob{.job_id = "x", .host = "b", .cores = {3}}));
    run(snapshot, "older", "b", 8);
    EXPECT_EQ(code_of(make_plan(snapshot), "x"), "core_busy") << "core 3 of host a is free";
}

TEST(Pools, a_full_pool_reserves_nothing_in_another_one) {
    Snapshot snapshot = two_pools();
    run(snapshot, "older", "b", 1);
    add_job(snapshot, "waits", "slurm", 8);
    add_job(snapshot, "behind", "slurm");
    add_job(snapshot, "beside", "local", 8);
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(code_of(plan, "waits"), "waiting_for_cores");
    EXPECT_EQ(code_of(plan, "behind"), "behind");
    EXPECT_EQ(host_of(plan, "beside"), "a");
}

// What is known of one pool says nothing of another one.
TEST(Pools, jobs_that_differ_in_the_pool_alone_wait_for_their_own_reasons) {
    Snapshot snapshot = two_pools();
    run(snapshot, "older", "b", 8);
    add_job(snapshot, "first", "slurm", 8);
    add_job(snapshot, "second", "local", 8);
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(reason_of(plan, "first")->blocking_job, "older");
    EXPECT_EQ(host_of(plan, "second"), "a");
}

TEST(Pools, nobody_gives_way_in_another_pool) {
    Snapshot snapshot = two_pools();
    for (const char* host : {"a", "b"}) {
        RunningJob& low = run(snapshot, fmt::format("low on {}", host), host, 8);
        low.class_rank = 4;
        low.preemptible = true;
    }
    snapshot.running[0].preemptible = false;
    add_job(snapshot, "urgent", "local").class_rank = 0;
    EXPECT_TRUE(make_plan(snapshot).preempt.empty());
    snapshot.queue[0].pool = "slurm";
    EXPECT_EQ(make_plan(snapshot).preempt,
              (std::vector<PreemptedJob>{{.job_id = "low on b", .for_job = "urgent"}}));
}

TEST(Pools, the_reason_says_what_the_pool_lacks) {
    struct Row {
        const char* what;
        std::string pool;
        int cores;
        std::function<void(CoreSlot&)> change;    // of host b, the only one of slurm
        const char* code;
        const char* message;
    };
    const std::vector<Row> rows{
        {"unknown", "tpu", 1, [](CoreSlot&) {}, "no_such_pool",
         "no host is of pool tpu; the pools are local, slurm"},
        {"down", "slurm", 1, [](CoreSlot& slot) { slot.alive = false; }, "host_lost",
         "no host of pool slurm is up"},
        {"drained", "slurm", 1, [](CoreSlot& slot) { slot.host_drained = true; }, "host_drained",
         "the job needs 1 core of one host of pool slurm, and host b is drained"},
        {"core drained", "slurm", 8, [](CoreSlot& slot) { slot.drained = slot.core == 2; },
         "core_drained", "the job needs 8 cores of one host of pool slurm; drained: 2"},
        {"small hosts", "slurm", 8, [](CoreSlot& slot) { slot.pool = "other"; }, "no_such_pool",
         "no host is of pool slurm; the pools are local, other"},
        {"slice of an unknown pool", "tpu", 16, [](CoreSlot&) {}, "no_such_pool",
         "no host is of pool tpu; the pools are local, slurm"},
        {"slice", "slurm", 16, [](CoreSlot&) {}, "waiting_for_cores",
         "the job needs 2 whole hosts of 8 cores, and 1 is known of pool slurm"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.what);
        Snapshot snapshot = two_pools();
        for (CoreSlot& slot : snapshot.cores)
            if (slot.host == "b") row.change(slot);
        add_job(snapshot, "x", row.pool, row.cores);
        const Plan plan = make_plan(snapshot);
        ASSERT_NE(reason_of(plan, "x"), nullptr);
        EXPECT_EQ(reason_of(plan, "x")->code, row.code);
        EXPECT_EQ(reason_of(plan, "x")->message, row.message);
    }
    Snapshot empty{.queue = {}, .cores = {}};
    add_job(empty, "x", "slurm");
    EXPECT_EQ(reason_of(make_plan(empty), "x")->message, "no host is of pool slurm: none is known");
    Snapshot snapshot = two_pools();
    add_job(snapshot, "x", "tpu").core_id = 5;
    EXPECT_EQ(code_of(make_plan(snapshot), "x"), "no_such_pool");
}

TEST(Pools, the_hosts_of_a_slice_are_of_one_pool) {
    Snapshot snapshot = two_pools();
    add_job(snapshot, "x", "", 16);
    EXPECT_EQ(code_of(make_plan(snapshot), "x"), "waiting_for_cores") << "one host of each pool";
    add_host(snapshot, "c", "slurm");
    EXPECT_EQ(make_plan(snapshot).start.at(0).host, "b");
    EXPECT_EQ(make_plan(snapshot).start.at(0).other_hosts, std::vector<std::string>{"c"});
    snapshot.queue[0].pool = "local";
    EXPECT_EQ(code_of(make_plan(snapshot), "x"), "waiting_for_cores");
    // One that waits keeps the hosts of one pool, not one of each.
    snapshot.queue[0].pool.clear();
    run(snapshot, "older", "c", 1);
    add_job(snapshot, "small", "local", 8);
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(reason_of(plan, "x")->blocking_job, "older");
    EXPECT_EQ(host_of(plan, "small"), "a");
}

TEST(Pools, jobs_ahead_in_one_pool_are_no_turns_in_another) {
    std::vector<WaitingJob> queue;
    const auto add = [&](const std::string& id, const std::string& project,
                         const std::string& pool) {
        queue.push_back({.job_id = id,
                         .cores = 1,
                         .core_id = {},
                         .due_at = {},
                         .project = project,
                         .pool = pool});
    };
    for (int i = 0; i < 5; ++i)
        add(fmt::format("a{}", i), "sweeps", "slurm");
    add("b", "sweeps", "local");
    add("c", "other", "local");
    add("d", "other", "local");
    const auto ordered = in_fair_order(queue, {}, CoreCounts(100));
    const auto place_of = [&](const std::string& id) {
        return std::ranges::find(ordered, id, &WaitingJob::job_id) - ordered.begin();
    };
    EXPECT_LT(place_of("b"), place_of("d")) << "level with c";
    queue[5].pool.clear();    // may have the cores that its project waits for
    const auto without = in_fair_order(queue, {}, CoreCounts(100));
    EXPECT_EQ(without.back().job_id, "b");
}

TEST(Pools, what_a_waiting_job_earns_is_of_the_cores_of_its_pool) {
    const Snapshot snapshot = two_pools();
    const CoreCounts counts(snapshot.cores);
    EXPECT_EQ(counts.all, 16U);
    WaitingJob job{.job_id = "x", .cores = 8, .core_id = {}, .due_at = {}};
    EXPECT_EQ(counts.open_to(job), 16U);
    job.pool = "slurm";
    EXPECT_EQ(counts.open_to(job), 8U);
}

TEST(Pools, a_simulation_keeps_them_apart_and_a_preempted_job_stays_in_its_own) {
    Snapshot snapshot = two_pools();
    RunningJob& low = run(snapshot, "low", "b", 8);
    low.class_rank = 4;
    low.preemptible = true;
    add_job(snapshot, "urgent", "slurm", 8).class_rank = 0;
    add_job(snapshot, "here", "local", 8);
    add_job(snapshot, "never", "tpu");
    const auto lasts = [](int s) { return RunEstimate{.lasts = seconds{s}}; };
    const Simulation simulated =
        simulate(snapshot, {{"low", lasts(1000)}, {"urgent", lasts(100)}, {"here", lasts(100)}});
    EXPECT_EQ(simulated.starts.at("here").at, snapshot.now);
    EXPECT_EQ(simulated.starts.at("urgent").host, "b");
    EXPECT_EQ(simulated.starts.at("low").host, "b");
    EXPECT_FALSE(simulated.starts.contains("never"));
}

// Goal: where every job names its pool, a service with two pools plans as two services do.
// Method: random machines and queues; the plan of both pools together against that of each alone.
TEST(Pools, two_pools_plan_as_two_services) {
    for (unsigned seed = 0; seed < 400; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        std::mt19937 random(seed);
        const auto any = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        Snapshot both{.queue = {}, .cores = {}, .now = Instant{} + seconds{1000}};
        for (const char* pool : {"x", "y"})
            for (int host = 0; host < any(1, 3); ++host) {
                const std::string name = fmt::format("{}{}", pool, host);
                add_host(both, name, pool);
                RunningJob& job = run(both, "on " + name, name, any(1, 8));
                job.class_rank = any(2, 4);
                job.preemptible = any(0, 1) == 1;
                if (any(0, 1) == 1) job.ends_by = both.now + seconds{any(10, 500)};
            }
        for (int i = 0; i < any(1, 12); ++i) {
            const int cores = std::array{1, 1, 2, 8, 16}.at(std::size_t(any(0, 4)));
            WaitingJob& job =
                add_job(both, fmt::format("job {}", i), any(0, 1) == 0 ? "x" : "y", cores);
            job.class_rank = any(0, 3);
            if (any(0, 1) == 1) job.runs_at_most = seconds{any(1, 300)};
            job.project = any(0, 1) == 0 ? "p" : "q";
        }
        const Plan together = make_plan(both);
        for (const char* pool : {"x", "y"}) {
            Snapshot one = both;
            std::erase_if(one.cores, [&](const CoreSlot& slot) { return slot.pool != pool; });
            std::erase_if(one.queue, [&](const WaitingJob& job) { return job.pool != pool; });
            std::erase_if(one.running, [&](const RunningJob& job) { return job.pool != pool; });
            const Plan alone = make_plan(one);
            for (const WaitingJob& job : one.queue) {
                EXPECT_EQ(host_of(together, job.job_id), host_of(alone, job.job_id));
                EXPECT_EQ(code_of(together, job.job_id), code_of(alone, job.job_id));
            }
            for (const PreemptedJob& preempted : alone.preempt)
                EXPECT_EQ(std::ranges::count(together.preempt, preempted), 1);
        }
    }
}

}    // namespace
}    // namespace slipway
