#include "scheduler/placement/simulation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/placement/placement.h"

namespace slipway {
namespace {

using namespace std::chrono_literals;

const Instant begin = Instant{} + std::chrono::days{20000};

/// A service at `begin`, and how long its jobs last.
struct Service {
    Snapshot snapshot{.queue = {}, .cores = {}, .now = begin};
    std::map<std::string, RunEstimate> runs;

    void host(const std::string& name, int cores = 8) {
        for (int core = 1; core <= cores; ++core)
            snapshot.cores.push_back({.host = name, .core = core, .held_by = {}});
    }

    void runs_on(const std::string& id, int first, int cores, RunEstimate left,
                 RunningJob job = {}) {
        for (int i = 0; i < cores; ++i)
            snapshot.cores[std::size_t(first - 1 + i)].held_by = id;
        job.job_id = id;
        job.cores = cores;
        job.started_at = begin - 60s;
        snapshot.running.push_back(job);
        runs[id] = left;
    }

    WaitingJob& waits(const std::string& id, int cores, RunEstimate run) {
        snapshot.queue.push_back({.job_id = id,
                                  .queued_at = begin + std::chrono::seconds{made++} - 1h,
                                  .cores = cores,
                                  .core_id = {},
                                  .due_at = {}});
        runs[id] = run;
        return snapshot.queue.back();
    }

    Simulation simulated(const SimulationBounds& bounds = {}) const {
        return simulate(snapshot, runs, bounds);
    }

    int made = 0;
};

std::int64_t second_of(const Simulation& simulation, const std::string& id) {
    const auto found = simulation.starts.find(id);
    if (found == simulation.starts.end()) return -1;
    return (found->second.at - begin) / 1s;
}

RunEstimate lasts(int seconds, RunBasis basis = RunBasis::typical) {
    return {.lasts = std::chrono::seconds{seconds}, .basis = basis};
}

TEST(Simulation, jobs_start_when_cores_become_free) {
    Service service;
    service.host("a", 1);
    service.runs_on("old", 1, 1, lasts(100, RunBasis::progress));
    service.waits("first", 1, lasts(10, RunBasis::limit));
    service.waits("second", 1, lasts(10));
    service.waits("third", 1, lasts(10));
    const Simulation found = service.simulated();
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(second_of(found, "first"), 100);
    EXPECT_EQ(second_of(found, "second"), 110);
    EXPECT_EQ(second_of(found, "third"), 120);
    EXPECT_EQ(found.starts.at("first").basis, RunBasis::progress) << "of what ended before";
    EXPECT_EQ(found.starts.at("second").basis, RunBasis::limit) << "the least certain";
    EXPECT_EQ(found.starts.at("third").basis, RunBasis::limit);
    EXPECT_EQ(found.starts.at("first").host, "a");
    EXPECT_EQ(found.starts.at("first").cores, std::vector<int>{1});
}

TEST(Simulation, what_can_start_starts_now_and_rests_on_nothing) {
    Service service;
    service.host("a");
    service.waits("big", 8, lasts(60));
    const Simulation found = service.simulated();
    EXPECT_EQ(second_of(found, "big"), 0);
    EXPECT_EQ(found.starts.at("big").basis, RunBasis::known);
    EXPECT_EQ(found.until, begin);
}

// A formula of core-seconds would say 30 s.
TEST(Simulation, a_job_of_several_cores_waits_for_the_last_of_them) {
    Service service;
    service.host("a", 2);
    service.runs_on("short", 1, 1, lasts(10));
    service.runs_on("long", 2, 1, lasts(50));
    service.waits("both", 2, lasts(100));
    service.waits("behind", 1, lasts(10));
    const Simulation found = service.simulated();
    EXPECT_EQ(second_of(found, "both"), 50);
    EXPECT_EQ(second_of(found, "behind"), 150);
}

TEST(Simulation, who_gives_way_saves_and_starts_again) {
    Service service;
    service.host("a", 1);
    service.runs_on("low", 1, 1, lasts(500), {.job_id = {}, .class_rank = 3, .preemptible = true});
    service.waits("urgent", 1, lasts(100)).class_rank = 0;
    service.waits("normal", 1, lasts(100));
    const Simulation found = service.simulated();
    EXPECT_EQ(second_of(found, "urgent"), 30);
    EXPECT_EQ(second_of(found, "normal"), 130);
    EXPECT_EQ(second_of(found, "low"), 230) << "it waits for the rest of its run";
}

TEST(Simulation, what_never_can_start_does_not) {
    Service service;
    service.host("a", 2);
    service.waits("too_big", 8, lasts(10));
    service.waits("held", 1, lasts(10)).due = false;
    service.waits("small", 1, lasts(10));
    const Simulation found = service.simulated();
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.starts.size(), 1U);
    EXPECT_EQ(second_of(found, "small"), 0);
}

TEST(Simulation, its_bounds_end_it) {
    Service service;
    service.host("a", 1);
    for (int i = 0; i < 100; ++i)
        service.waits(fmt::format("job_{:03}", i), 1, lasts(3600));
    const Simulation by_passes = service.simulated({.passes_max = 10});
    EXPECT_FALSE(by_passes.complete);
    EXPECT_EQ(by_passes.starts.size(), 10U);
    const Simulation by_time = service.simulated({.horizon = 10h});
    EXPECT_FALSE(by_time.complete);
    EXPECT_EQ(by_time.starts.size(), 11U);
    EXPECT_FALSE(service.simulated({.stop = [] { return true; }}).complete);
    EXPECT_EQ(service.simulated().starts.size(), 100U);
}

TEST(Simulation, of_a_job_that_nothing_is_known_of_ten_minutes_are_assumed) {
    Service service;
    service.host("a", 1);
    service.waits("unknown", 1, lasts(1));
    service.waits("next", 1, lasts(1));
    service.runs.clear();
    const Simulation found = service.simulated();
    EXPECT_EQ(second_of(found, "next"), 600);
    EXPECT_EQ(found.starts.at("next").basis, RunBasis::assumed);
}

// Goal: the simulation decides as the service does. Method: its first pass is a plan of the whole
// queue, and projects share in time what they are entitled to.
TEST(Simulation, projects_share_by_weight_as_in_the_service) {
    Service service;
    service.host("a");
    service.snapshot.projects = {{.name = "one", .weight = 1}, {.name = "three", .weight = 3}};
    for (int i = 0; i < 400; ++i)
        service.waits(fmt::format("job_{:03}", i), 1, lasts(60)).project =
            i % 2 == 0 ? "one" : "three";
    const Plan plan = make_plan(service.snapshot);
    const Simulation found = service.simulated();
    for (const PlacedJob& placed : plan.start)
        EXPECT_EQ(found.starts.at(placed.job_id).cores, placed.cores);
    std::map<std::string, int> started;
    for (const WaitingJob& job : service.snapshot.queue)
        if (second_of(found, job.job_id) < 1200) ++started[job.project];
    EXPECT_EQ(started["one"] + started["three"], 160);
    EXPECT_NEAR(started["three"], 120, 4);
}

}    // namespace
}    // namespace slipway
