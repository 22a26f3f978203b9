// Preemption, backfill and quotas: what keeps reserved cores from idling, and what keeps a project
// from taking all.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/placement/placement.h"
#include "tests/scheduler/placement/wait_codes.h"

namespace slipway {
namespace {

using std::chrono::seconds;

constexpr int urgent = 0, high = 1, normal = 2, low = 3;

/// One host or more, with jobs on its cores.
struct Site {
    Snapshot snapshot;

    explicit Site(int hosts = 1) {
        snapshot.now = Instant{} + seconds{100000};
        for (int host = 0; host < hosts; ++host)
            for (int core = 1; core <= 8; ++core)
                snapshot.cores.push_back(
                    {.host = fmt::format("h{}", host), .core = core, .held_by = {}});
    }

    RunningJob& run(const std::string& id, std::vector<int> cores, int class_rank = normal,
                    const std::string& host = "h0") {
        for (CoreSlot& core : snapshot.cores)
            if (core.host == host && std::ranges::count(cores, core.core) > 0) core.held_by = id;
        snapshot.running.push_back({.job_id = id,
                                    .class_rank = class_rank,
                                    .cores = int(cores.size()),
                                    .started_at = snapshot.now - seconds{1000},
                                    .preemptible = true});
        return snapshot.running.back();
    }

    WaitingJob& wait(const std::string& id, int cores, int class_rank = normal) {
        snapshot.queue.push_back({.job_id = id,
                                  .class_rank = class_rank,
                                  .queued_at = Instant{} + seconds{snapshot.queue.size()},
                                  .cores = cores,
                                  .core_id = {},
                                  .due_at = {}});
        return snapshot.queue.back();
    }

    Plan plan() const { return make_plan(snapshot); }
};

std::vector<std::string> preempted(const Plan& plan) {
    std::vector<std::string> ids;
    for (const PreemptedJob& one : plan.preempt)
        ids.push_back(one.job_id);
    std::ranges::sort(ids);
    return ids;
}

using PreemptedIds = std::vector<std::string>;
const std::vector<int> all_cores{1, 2, 3, 4, 5, 6, 7, 8};

TEST(Preemption, a_lower_class_gives_way_and_no_other) {
    for (const int running : {urgent, high, normal, low}) {
        Site site;
        site.run("old", all_cores, running);
        site.wait("new", 8, high);
        const Plan plan = site.plan();
        EXPECT_EQ(preempted(plan), running > high ? PreemptedIds{"old"} : PreemptedIds{})
            << running;
        EXPECT_EQ(code_of(plan, "new"), running > high ? "preempting" : "waiting_for_cores");
    }
}

TEST(Preemption, who_is_not_preemptible_stays) {
    Site site;
    site.run("old", all_cores, low).preemptible = false;
    site.wait("new", 8, urgent);
    EXPECT_TRUE(site.plan().preempt.empty());
    EXPECT_EQ(code_of(site.plan(), "new"), "waiting_for_cores");
}

TEST(Preemption, as_few_as_do_the_lowest_class_and_the_newest_first) {
    Site site;
    for (int core = 1; core <= 8; ++core)
        site.run(fmt::format("j{}", core), {core}, core <= 4 ? normal : low).started_at =
            site.snapshot.now - seconds{100 - core};
    site.wait("new", 2, high);
    EXPECT_EQ(preempted(site.plan()), (PreemptedIds{"j7", "j8"}));
    site.snapshot.queue.back().cores = 6;
    EXPECT_EQ(preempted(site.plan()), (PreemptedIds{"j3", "j4", "j5", "j6", "j7", "j8"}));
}

TEST(Preemption, one_large_job_spares_the_small_ones) {
    Site site;
    site.run("small", {1}, low).started_at = site.snapshot.now - seconds{1};
    site.run("large", {2, 3, 4, 5, 6, 7, 8}, low);
    site.wait("new", 4, high);
    EXPECT_EQ(preempted(site.plan()), PreemptedIds{"large"});
}

TEST(Preemption, the_host_where_the_fewest_give_way_is_chosen) {
    Site site(2);
    for (int core = 1; core <= 8; ++core)
        site.run(fmt::format("a{}", core), {core}, low, "h0");
    site.run("b", all_cores, low, "h1");
    site.wait("new", 8, high);
    EXPECT_EQ(preempted(site.plan()), PreemptedIds{"b"});
}

TEST(Preemption, nobody_more_is_asked_while_those_who_end_are_enough) {
    Site site(2);
    site.run("ends", all_cores, low, "h0").ending = true;
    site.run("other", all_cores, low, "h1");
    site.wait("new", 8, high);
    const Plan plan = site.plan();
    EXPECT_TRUE(plan.preempt.empty());
    EXPECT_EQ(code_of(plan, "new"), "preempting");
    EXPECT_EQ(plan.waiting[0].blocking_job, "ends");
}

TEST(Preemption, each_waiting_job_gets_cores_of_its_own) {
    Site site(2);
    site.run("a", all_cores, low, "h0");
    site.run("b", all_cores, low, "h1");
    site.wait("first", 8, high);
    site.wait("second", 8, high);
    site.wait("third", 8, high);
    const Plan plan = site.plan();
    EXPECT_EQ(preempted(plan), (PreemptedIds{"a", "b"}));
    EXPECT_EQ(code_of(plan, "third"), "waiting_for_cores");
}

TEST(Preemption, a_core_by_number_takes_that_core) {
    Site site;
    site.run("on_4", {4}, low);
    site.run("on_5", {5}, low);
    WaitingJob& job = site.wait("new", 1, urgent);
    job.core_id = 5;
    site.snapshot.cores[0].held_by = "unknown";
    const Plan plan = site.plan();
    EXPECT_EQ(preempted(plan), PreemptedIds{"on_5"});
    EXPECT_EQ(plan.waiting[0].cores, std::vector<int>{5});
}

TEST(Preemption, one_core_is_kept_for_whom_it_was_given_up) {
    Site site;
    site.run("large", all_cores, low);
    site.wait("new", 1, high);
    Plan plan = site.plan();
    EXPECT_EQ(preempted(plan), PreemptedIds{"large"});
    // It has given them up: the new job starts, and the others get the rest.
    site.snapshot.running.clear();
    for (CoreSlot& core : site.snapshot.cores)
        core.held_by.clear();
    site.wait("large", 8, low);
    plan = site.plan();
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].job_id, "new");
}

TEST(Preemption, nobody_gives_way_when_it_would_not_be_enough) {
    Site site;
    site.run("high", {1, 2, 3, 4}, high);
    site.run("low", {5, 6, 7, 8}, low);
    site.wait("new", 8, high);
    EXPECT_TRUE(site.plan().preempt.empty());
}

TEST(Backfill, reserved_cores_are_lent_to_who_ends_in_time) {
    Site site;
    site.run("old", {1, 2}).ends_by = site.snapshot.now + seconds{1000};
    site.wait("big", 8);
    site.wait("short", 1).runs_at_most = seconds{1000} - backfill_margin;
    site.wait("long", 1).runs_at_most = seconds{1001} - backfill_margin;
    site.wait("endless", 1);
    const Plan plan = site.plan();
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].job_id, "short");
    EXPECT_EQ(code_of(plan, "long"), "behind");
    EXPECT_EQ(code_of(plan, "endless"), "behind");
}

TEST(Backfill, nothing_is_lent_when_an_end_is_unknown) {
    Site site;
    site.run("old", {1}).ends_by = site.snapshot.now + seconds{100000};
    site.run("endless", {2});
    site.wait("big", 8);
    site.wait("short", 1).runs_at_most = seconds{1};
    EXPECT_TRUE(site.plan().start.empty());
    site.snapshot.queue[0].cores = 7;    // the endless one is not in its way
    EXPECT_EQ(site.plan().start.size(), 1U);
}

TEST(Backfill, the_job_that_waits_is_not_later_for_it) {
    Site site;
    site.run("old", {1, 2}).ends_by = site.snapshot.now + seconds{1000};
    site.wait("big", 8);
    for (int i = 0; i < 6; ++i)
        site.wait(fmt::format("short{}", i), 1).runs_at_most = seconds{600};
    const Instant begin = site.snapshot.now;
    for (const PlacedJob& placed : site.plan().start)
        site.run(placed.job_id, placed.cores).ends_by = begin + seconds{600} + backfill_margin;
    std::erase_if(site.snapshot.queue, [](const WaitingJob& job) { return job.job_id != "big"; });
    // All have run as long as they may.
    site.snapshot.now = begin + seconds{1000};
    for (CoreSlot& core : site.snapshot.cores)
        core.held_by.clear();
    site.snapshot.running.clear();
    EXPECT_EQ(site.plan().start.at(0).job_id, "big");
}

TEST(Quota, a_project_holds_no_more_cores_than_it_may) {
    Site site;
    site.snapshot.projects = {{.name = "p", .cores_max = 3}};
    for (int i = 0; i < 5; ++i)
        site.wait(fmt::format("j{}", i), 1).project = "p";
    site.wait("other", 1).project = "q";
    Plan plan = site.plan();
    EXPECT_EQ(plan.start.size(), 4U);
    EXPECT_EQ(code_of(plan, "j3"), "quota");
    EXPECT_EQ(plan.waiting[0].message,
              "the job needs 1 core; project p holds 3 and its quota is 3");
    site.run("running", {7, 8}).project = "p";
    plan = site.plan();
    EXPECT_EQ(code_of(plan, "j1"), "quota");
    EXPECT_EQ(code_of(plan, "other"), "placed") << "who is over its quota keeps nothing";
}

}    // namespace
}    // namespace slipway
