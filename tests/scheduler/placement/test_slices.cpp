#include "scheduler/placement/slice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scheduler/placement/placement.h"
#include "scheduler/placement/simulation.h"

namespace slipway {
namespace {

using std::chrono::seconds;

std::vector<CoreSlot> free_hosts(const std::vector<std::string>& names) {
    std::vector<CoreSlot> cores;
    for (const std::string& name : names)
        for (int core = 1; core <= 8; ++core)
            cores.push_back({.host = name, .core = core, .held_by = {}});
    return cores;
}

WaitingJob job_of(const std::string& id, int cores, int age_s = 0) {
    return {.job_id = id,
            .queued_at = Instant{} + seconds{age_s},
            .cores = cores,
            .core_id = {},
            .due_at = {}};
}

/// The job holds these cores of the host.
void give_to(Snapshot& snapshot, const RunningJob& job, const std::string& host,
             const std::vector<int>& cores) {
    for (CoreSlot& slot : snapshot.cores)
        if (slot.host == host && std::ranges::count(cores, slot.core) > 0)
            slot.held_by = job.job_id;
    if (std::ranges::find(snapshot.running, job.job_id, &RunningJob::job_id) ==
        snapshot.running.end())
        snapshot.running.push_back(job);
}

const std::vector<int> whole_host{1, 2, 3, 4, 5, 6, 7, 8};

const WaitReason& why(const Plan& plan, const std::string& id) {
    return *std::ranges::find(plan.waiting, id, &WaitReason::job_id);
}

TEST(Slices, a_slice_takes_whole_hosts_at_once) {
    const Plan plan = make_plan({.queue = {job_of("x", 16)}, .cores = free_hosts({"a", "b", "c"})});
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0],
              (PlacedJob{.job_id = "x", .host = "a", .cores = whole_host, .other_hosts = {"b"}}));
}

TEST(Slices, hosts_that_are_near_each_other_are_preferred) {
    struct Case {
        std::vector<std::string> hosts;
        std::vector<std::string> busy;
        int count;
        std::vector<std::string> chosen;
    };
    const std::vector<Case> cases{
        {{"rack-1", "rack-2", "rack-10"}, {}, 2, {"rack-1", "rack-2"}},
        {{"rack-1", "rack-2", "rack-3", "rack-10"}, {"rack-2"}, 2, {"rack-3", "rack-10"}},
        {{"a1", "a2", "b1", "b2", "b3"}, {"a1"}, 3, {"b1", "b2", "b3"}},
        {{"a1", "b1", "b2"}, {}, 2, {"b1", "b2"}},
        {{"box", "box-2", "box-3"}, {"box-2"}, 2, {"box", "box-3"}},
        {{"a1", "b1"}, {}, 2, {"a1", "b1"}},
        {{"a1", "b1"}, {"a1"}, 2, {}},
    };
    for (const Case& one : cases) {
        Machine machine = machine_of(free_hosts(one.hosts));
        std::vector<std::string> chosen;
        for (const NamedHost& host :
             nearest_hosts(in_name_order(machine), one.count, [&](const HostSlots& slots) {
                 return std::ranges::count(one.busy, slots.front().core.host) == 0;
             }))
            chosen.push_back(*host.name);
        EXPECT_EQ(chosen, one.chosen) << fmt::format("{} of {}", one.count, one.hosts.front());
    }
}

TEST(Slices, a_slice_says_how_many_hosts_it_lacks_and_keeps_those_that_are_free) {
    Snapshot snapshot{.queue = {job_of("x", 32, 1), job_of("y", 8, 2), job_of("z", 1, 3)},
                      .cores = free_hosts({"a", "b", "c", "d"})};
    give_to(snapshot, {.job_id = "one", .cores = 8}, "a", whole_host);
    give_to(snapshot, {.job_id = "two"}, "b", {1});
    const Plan plan = make_plan(snapshot);
    EXPECT_TRUE(plan.start.empty()) << "what is kept for a slice is given to nobody behind";
    const WaitReason& reason = why(plan, "x");
    EXPECT_EQ(reason.code, "waiting_for_cores");
    EXPECT_EQ(reason.message, "the job needs 4 whole hosts of 8 cores and 2 are free");
    EXPECT_FALSE(reason.blocking_job.empty());
    EXPECT_EQ(plan.waiting.size(), 3U);
}

TEST(Slices, only_as_many_hosts_are_kept_as_are_needed) {
    Snapshot snapshot{.queue = {job_of("x", 16, 1), job_of("y", 8, 2)},
                      .cores = free_hosts({"a", "b", "c"})};
    give_to(snapshot, {.job_id = "one", .cores = 8}, "a", whole_host);
    give_to(snapshot, {.job_id = "two"}, "b", {1});
    const Plan plan = make_plan(snapshot);
    ASSERT_EQ(why(plan, "x").message, "the job needs 2 whole hosts of 8 cores and 1 is free");
    EXPECT_TRUE(plan.start.empty()) << "c is kept with b; a is held";
    snapshot.cores = free_hosts({"a", "b", "c", "d"});
    give_to(snapshot, {.job_id = "one", .cores = 8}, "a", whole_host);
    give_to(snapshot, {.job_id = "two"}, "b", {1});
    const Plan roomy = make_plan(snapshot);
    ASSERT_EQ(roomy.start.size(), 1U);
    EXPECT_EQ(roomy.start[0].job_id, "x");
    EXPECT_EQ(roomy.start[0].host, "c");
}

TEST(Slices, kept_hosts_are_lent_to_jobs_whose_limits_end_them_in_time) {
    Snapshot snapshot{.queue = {job_of("x", 16, 1), job_of("short", 8, 2), job_of("long", 8, 3)},
                      .cores = free_hosts({"a", "b"})};
    give_to(snapshot, {.job_id = "one", .cores = 8, .ends_by = Instant{} + seconds{1000}}, "a",
            whole_host);
    snapshot.queue[1].runs_at_most = seconds{600};
    snapshot.queue[2].runs_at_most = seconds{2000};
    const Plan plan = make_plan(snapshot);
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].job_id, "short");
    EXPECT_EQ(plan.start[0].host, "b");
    EXPECT_EQ(plan.start[0].ahead_of, "x");
}

TEST(Slices, jobs_of_a_lower_class_give_way_only_when_that_frees_all_hosts) {
    Snapshot snapshot{.queue = {job_of("x", 16)}, .cores = free_hosts({"a", "b"})};
    snapshot.queue[0].class_rank = 1;
    const auto lower = [](const std::string& id, bool preemptible) {
        return RunningJob{.job_id = id, .class_rank = 3, .cores = 8, .preemptible = preemptible};
    };
    give_to(snapshot, lower("one", true), "a", whole_host);
    give_to(snapshot, lower("two", false), "b", whole_host);
    EXPECT_TRUE(make_plan(snapshot).preempt.empty());
    snapshot.running[1].preemptible = true;
    const Plan plan = make_plan(snapshot);
    ASSERT_EQ(plan.preempt.size(), 2U);
    EXPECT_EQ(plan.preempt[0], (PreemptedJob{.job_id = "one", .for_job = "x"}));
    EXPECT_EQ(why(plan, "x").code, "preempting");
}

TEST(Slices, a_slice_of_a_lower_class_is_asked_once_and_gives_all_its_hosts) {
    Snapshot snapshot{.queue = {job_of("x", 16, 1), job_of("y", 1, 2)},
                      .cores = free_hosts({"a", "b"})};
    snapshot.queue[0].class_rank = snapshot.queue[1].class_rank = 1;
    const RunningJob slice{.job_id = "slice", .class_rank = 3, .cores = 16, .preemptible = true};
    give_to(snapshot, slice, "a", whole_host);
    give_to(snapshot, slice, "b", whole_host);
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(plan.preempt.size(), 1U);
    EXPECT_EQ(why(plan, "x").code, "preempting");
    EXPECT_EQ(plan.waiting.size(), 2U);
}

TEST(Slices, all_its_cores_count_against_the_quota) {
    Snapshot snapshot{.queue = {job_of("x", 16)}, .cores = free_hosts({"a", "b"})};
    snapshot.queue[0].project = "p";
    snapshot.projects = {{.name = "p", .cores_max = 15}};
    EXPECT_EQ(why(make_plan(snapshot), "x").code, "quota");
    snapshot.projects[0].cores_max = 16;
    EXPECT_EQ(make_plan(snapshot).start.size(), 1U);
}

TEST(Slices, hosts_that_cannot_be_had_are_named) {
    const auto reason = [](const std::function<void(CoreSlot&)>& change) {
        Snapshot snapshot{.queue = {job_of("x", 16), job_of("y", 8, 1)},
                          .cores = free_hosts({"a", "b"})};
        for (CoreSlot& core : snapshot.cores)
            if (core.host == "b") change(core);
        const Plan plan = make_plan(snapshot);
        EXPECT_EQ(plan.start.size(), 1U) << "nothing is kept for what only a person can change";
        const WaitReason& found = why(plan, "x");
        return found.code + ": " + found.message;
    };
    EXPECT_EQ(reason([](CoreSlot& core) {
                  core.host_drained = true;
                  core.drain_reason = "new disk";
              }),
              "host_drained: the job needs 2 whole hosts of 8 cores, and host b is drained (new "
              "disk)");
    EXPECT_EQ(reason([](CoreSlot& core) { core.drained = core.core == 3; }),
              "core_drained: the job needs 2 whole hosts of 8 cores, and core 3 of host b is "
              "drained");
    EXPECT_EQ(reason([](CoreSlot& core) { core.alive = false; }),
              "host_lost: the job needs 2 whole hosts of 8 cores, and host b sends no heartbeat");
    const Plan few = make_plan({.queue = {job_of("x", 24)}, .cores = free_hosts({"a", "b"})});
    EXPECT_EQ(why(few, "x").message, "the job needs 3 whole hosts of 8 cores, and 2 are known");
}

TEST(Slices, memory_is_that_of_each_host) {
    Snapshot snapshot{.queue = {job_of("x", 16)}, .cores = free_hosts({"a", "b"})};
    for (CoreSlot& core : snapshot.cores)
        core.host_memory_bytes = core.host == "a" ? 100 : 50;
    snapshot.queue[0].memory_bytes = 50;
    EXPECT_EQ(make_plan(snapshot).start.size(), 1U);
    snapshot.queue[0].memory_bytes = 80;
    const Plan plan = make_plan(snapshot);
    EXPECT_EQ(why(plan, "x").code, "waiting_for_memory");
}

TEST(Slices, a_simulation_frees_all_hosts_of_a_slice_at_its_end) {
    Snapshot snapshot{.queue = {job_of("x", 16, 1), job_of("y", 16, 2), job_of("z", 8, 3)},
                      .cores = free_hosts({"a", "b"})};
    const Simulation made = simulate(
        snapshot, {{"x", {.lasts = seconds{100}}}, {"y", {.lasts = seconds{100}}}, {"z", {}}});
    EXPECT_TRUE(made.complete);
    EXPECT_EQ(made.starts.at("y").at - made.starts.at("x").at, seconds{100});
    EXPECT_EQ(made.starts.at("z").at - made.starts.at("y").at, seconds{100});
}

// Goal: a job that waits behind a slice learns which job keeps free cores from it.
TEST(Slices, a_job_behind_a_waiting_slice_is_told_so) {
    Snapshot snapshot{.queue = {job_of("slice", 24), job_of("small", 1, 1)},
                      .cores = free_hosts({"a", "b", "c", "d"})};
    for (const char* host : {"a", "b", "c"})
        give_to(snapshot, {.job_id = "running", .cores = 24}, host, whole_host);
    const Plan plan = make_plan(snapshot);
    EXPECT_TRUE(plan.start.empty());
    const WaitReason& reason = why(plan, "small");
    EXPECT_EQ(reason.code, "behind");
    EXPECT_EQ(reason.blocking_job, "slice");
    EXPECT_EQ(reason.message,
              "8 cores of host d are free and reserved for job slice, which is ahead in the queue");
}

// Goal: a job is not sent where it could not start, unless there is nowhere else.
TEST(Slices, hosts_that_could_not_start_a_job_are_passed_over) {
    Snapshot snapshot{.queue = {job_of("x", 16), job_of("y", 1, 1)},
                      .cores = free_hosts({"a", "b", "c"})};
    for (WaitingJob& job : snapshot.queue)
        job.avoided_hosts = {"a"};
    Plan plan = make_plan(snapshot);
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].host, "b");
    EXPECT_EQ(plan.start[0].other_hosts, std::vector<std::string>{"c"});
    EXPECT_NE(why(plan, "y").message.find("could not start on a"), std::string::npos);
    for (CoreSlot& slot : snapshot.cores)
        slot.host_drained = slot.host == "b";
    plan = make_plan(snapshot);
    EXPECT_EQ(plan.start[0].host, "a") << "two of the three are needed";
    EXPECT_EQ(plan.waiting.size(), 1U);
}

}    // namespace
}    // namespace slipway
