#include "scheduler/placement/placement.h"

#include "tests/scheduler/placement/wait_codes.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace slipway {
namespace {

/// A queue, the oldest job first, and the machine.
struct Situation {
    std::vector<WaitingJob> queue;
    std::vector<CoreSlot> cores;

    Snapshot snapshot() const {
        Snapshot made{.queue = queue, .cores = cores};
        for (std::size_t i = 0; i < queue.size(); ++i)
            made.queue[i].queued_at = Instant{} + std::chrono::seconds{i};
        return made;
    }
};

Plan plan_of(const Situation& situation) {
    return make_plan(situation.snapshot());
}

std::vector<CoreSlot> free_host(const std::string& host, int count = 8) {
    std::vector<CoreSlot> cores;
    for (int core = 1; core <= count; ++core)
        cores.push_back({.host = host, .core = core, .held_by = {}});
    return cores;
}

WaitingJob wants(const std::string& id, int cores) {
    return {.job_id = id, .cores = cores, .core_id = {}, .due_at = {}};
}

WaitingJob wants_core(const std::string& id, int core) {
    return {.job_id = id, .cores = 1, .core_id = core, .due_at = {}};
}

TEST(Placement, one_core_jobs_take_the_lowest_free_cores_in_the_order_of_the_queue) {
    auto cores = free_host("a");
    cores[0].held_by = "older";
    const auto plan = plan_of({{wants("x", 1), wants("y", 1)}, cores});
    ASSERT_EQ(plan.start.size(), 2U);
    EXPECT_EQ(plan.start[0], (PlacedJob{.job_id = "x", .host = "a", .cores = {2}}));
    EXPECT_EQ(plan.start[1], (PlacedJob{.job_id = "y", .host = "a", .cores = {3}}));
}

TEST(Placement, an_eight_core_job_takes_a_whole_host) {
    const auto plan = plan_of({{wants("x", 8)}, free_host("a")});
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].cores, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Placement, a_core_by_number_is_that_core_or_a_wait) {
    auto cores = free_host("a");
    EXPECT_EQ(plan_of({{wants_core("x", 5)}, cores}).start[0].cores, std::vector<int>{5});
    cores[4].held_by = "older";
    const auto plan = plan_of({{wants_core("x", 5)}, cores});
    EXPECT_TRUE(plan.start.empty());
    EXPECT_EQ(plan.waiting[0].code, "core_busy");
    EXPECT_EQ(plan.waiting[0].blocking_job, "older");
    EXPECT_EQ(plan.waiting[0].cores, std::vector<int>{5});
}

// Goal: of hosts with the same number of free cores the warm one is taken, and packing goes first.
TEST(Placement, of_equal_hosts_the_one_where_such_a_job_began_last_is_taken) {
    struct Row {
        const char* what;
        std::vector<int> held;    // cores of hosts a, b and c that are not free
        std::vector<WarmPlace> warm;
        int cores;
        std::string host;
    };
    const auto at = [](int seconds) { return Instant{} + std::chrono::seconds{seconds}; };
    const auto place = [&](const char* host, int seconds) {
        return WarmPlace{"vision", "ds_1", host, at(seconds)};
    };
    const std::vector<Row> rows{
        {"nothing is known: the first by name", {0, 0, 0}, {}, 1, "a"},
        {"the warm one", {0, 0, 0}, {place("b", 5)}, 1, "b"},
        {"the one used last", {0, 0, 0}, {place("c", 9), place("b", 5)}, 1, "c"},
        {"whatever the order", {0, 0, 0}, {place("b", 5), place("c", 9), place("c", 2)}, 1, "c"},
        {"a whole host, too", {0, 0, 0}, {place("b", 5)}, 8, "b"},
        {"packing goes first", {3, 0, 0}, {place("b", 5)}, 1, "a"},
        {"among the fullest", {3, 3, 4}, {place("a", 1), place("b", 5)}, 5, "b"},
        {"a warm one without room", {0, 8, 0}, {place("b", 5)}, 1, "a"},
        {"another project's", {0, 0, 0}, {{"text", "ds_1", "b", at(5)}}, 1, "a"},
        {"another dataset", {0, 0, 0}, {{"vision", "ds_2", "b", at(5)}}, 1, "a"},
        {"a host that is gone", {0, 0, 0}, {place("z", 5)}, 1, "a"}};
    for (const Row& row : rows) {
        std::vector<CoreSlot> cores;
        for (std::size_t i = 0; i < row.held.size(); ++i) {
            auto host = free_host(std::string(1, char('a' + int(i))));
            for (int core = 0; core < row.held[i]; ++core)
                host[std::size_t(core)].held_by = "older";
            cores.insert(cores.end(), host.begin(), host.end());
        }
        WaitingJob job = wants("x", row.cores);
        job.project = "vision";
        job.dataset_id = "ds_1";
        Snapshot snapshot = Situation{{job}, cores}.snapshot();
        snapshot.warm = row.warm;
        const Plan plan = make_plan(snapshot);
        ASSERT_EQ(plan.start.size(), 1U) << row.what;
        EXPECT_EQ(plan.start[0].host, row.host) << row.what;
    }
}

/// A host of 8 cores with 800 bytes for jobs: 100 are the share of a core.
std::vector<CoreSlot> host_with_memory() {
    auto cores = free_host("a");
    for (CoreSlot& core : cores)
        core.host_memory_bytes = 800;
    return cores;
}

WaitingJob wants_memory(const std::string& id, int cores, std::int64_t bytes) {
    WaitingJob job = wants(id, cores);
    job.memory_bytes = bytes;
    return job;
}

TEST(Placement, a_job_starts_only_where_its_memory_is_left) {
    auto cores = host_with_memory();
    cores[0].held_by = cores[1].held_by = "older";    // the share of two cores
    EXPECT_EQ(code_of(plan_of({{wants_memory("x", 1, 600)}, cores}), "x"), "placed");
    const auto plan = plan_of({{wants_memory("x", 1, 601), wants("y", 1)}, cores});
    EXPECT_EQ(code_of(plan, "x"), "waiting_for_memory");
    for (const char* number : {"601", "600", "800"})
        EXPECT_NE(reason_of(plan, "x")->message.find(number), std::string::npos) << number;
    EXPECT_EQ(reason_of(plan, "x")->blocking_job, "older");
    EXPECT_EQ(code_of(plan, "y"), "behind") << "what it took would be missing later still";
    cores[0].held_memory_bytes = cores[1].held_memory_bytes = 50;    // once, not for each core
    EXPECT_EQ(code_of(plan_of({{wants_memory("x", 1, 750)}, cores}), "x"), "placed");
}

TEST(Placement, jobs_that_start_together_share_the_memory) {
    const auto plan =
        plan_of({{wants_memory("x", 1, 500), wants_memory("y", 1, 400)}, host_with_memory()});
    EXPECT_EQ(code_of(plan, "x"), "placed");
    EXPECT_EQ(code_of(plan, "y"), "waiting_for_memory");
    // Who asks for none may use the share of its cores: it is counted likewise.
    EXPECT_EQ(
        code_of(plan_of({{wants_memory("x", 1, 750), wants("y", 1)}, host_with_memory()}), "y"),
        "waiting_for_memory");
    std::vector<WaitingJob> shares;
    for (int i = 0; i < 8; ++i)
        shares.push_back(wants(fmt::format("job {}", i), 1));
    EXPECT_EQ(plan_of({shares, host_with_memory()}).start.size(), 8U);
}

TEST(Placement, a_core_by_number_and_another_host_count_memory_too) {
    auto cores = host_with_memory();
    cores[0].held_by = "older";
    WaitingJob job = wants_core("x", 5);
    job.memory_bytes = 701;
    EXPECT_EQ(code_of(plan_of({{job}, cores}), "x"), "waiting_for_memory");
    for (CoreSlot core : host_with_memory()) {
        core.host = "b";
        cores.push_back(core);
    }
    EXPECT_EQ(plan_of({{job}, cores}).start.at(0).host, "b");
    EXPECT_EQ(plan_of({{wants_memory("y", 1, 800)}, cores}).start.at(0).host, "b");
}

TEST(Placement, more_memory_than_any_host_has_is_said_and_keeps_nothing) {
    const auto plan = plan_of({{wants_memory("x", 1, 1001), wants("y", 1)}, host_with_memory()});
    EXPECT_EQ(code_of(plan, "x"), "waiting_for_memory");
    EXPECT_NE(reason_of(plan, "x")->message.find("largest host has 800"), std::string::npos);
    EXPECT_EQ(code_of(plan, "y"), "placed");
    EXPECT_EQ(code_of(plan_of({{wants_memory("x", 1, 1001)}, free_host("a")}), "x"), "placed")
        << "no limit";
}

TEST(Placement, nobody_overtakes_a_job_that_waits_for_cores) {
    auto cores = free_host("a");
    cores[6].held_by = "older";
    const auto plan = plan_of({{wants("big", 8), wants("small", 1), wants_core("five", 5)}, cores});
    EXPECT_TRUE(plan.start.empty());
    EXPECT_EQ(code_of(plan, "big"), "waiting_for_cores");
    EXPECT_EQ(reason_of(plan, "big")->cores, std::vector<int>{7});
    EXPECT_EQ(reason_of(plan, "big")->blocking_job, "older");
    EXPECT_EQ(code_of(plan, "small"), "behind");
    EXPECT_EQ(reason_of(plan, "small")->blocking_job, "big");
    EXPECT_EQ(code_of(plan, "five"), "behind");
}

TEST(Placement, a_reserved_core_is_kept_and_the_others_are_used) {
    auto cores = free_host("a");
    cores[0].held_by = "older";
    const auto plan =
        plan_of({{wants_core("one", 1), wants_core("too", 1), wants("any", 1)}, cores});
    EXPECT_EQ(code_of(plan, "one"), "core_busy");
    EXPECT_EQ(code_of(plan, "too"), "behind");
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].cores, std::vector<int>{2});
}

TEST(Placement, a_job_that_waits_for_an_operator_keeps_nothing_from_others) {
    auto cores = free_host("a");
    cores[2].drained = true;
    const auto plan =
        plan_of({{wants("big", 8), wants_core("three", 3), wants("small", 1)}, cores});
    EXPECT_EQ(code_of(plan, "big"), "core_drained");
    EXPECT_EQ(reason_of(plan, "big")->cores, std::vector<int>{3});
    EXPECT_EQ(code_of(plan, "three"), "core_drained");
    EXPECT_EQ(code_of(plan, "small"), "placed");
}

TEST(Placement, a_drained_host_gets_no_job_and_says_why) {
    auto cores = free_host("a");
    for (CoreSlot& core : cores) {
        core.host_drained = true;
        core.drain_reason = "new disk";
    }
    auto plan = plan_of({{wants("big", 8), wants_core("three", 3), wants("small", 1)}, cores});
    EXPECT_TRUE(plan.start.empty());
    for (const char* id : {"big", "three", "small"}) {
        EXPECT_EQ(code_of(plan, id), "host_drained");
        EXPECT_NE(reason_of(plan, id)->message.find("host a is drained (new disk)"),
                  std::string::npos)
            << reason_of(plan, id)->message;
    }
    const auto other = free_host("b");
    cores.insert(cores.end(), other.begin(), other.end());
    plan = plan_of({{wants("big", 8), wants_core("three", 3)}, cores});
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].host, "b");
    EXPECT_EQ(code_of(plan, "three"), "core_busy") << "of the host that takes jobs";
}

WaitingJob in_group(WaitingJob job, int limit) {
    job.project = "p";
    job.group = "sweep";
    job.group_limit = limit;
    return job;
}

TEST(Placement, of_a_group_no_more_run_than_its_limit_says) {
    const auto plan = plan_of({{in_group(wants("one", 1), 2), in_group(wants("two", 1), 2),
                                in_group(wants("three", 1), 2), wants("other", 1)},
                               free_host("a")});
    EXPECT_EQ(code_of(plan, "one"), "placed");
    EXPECT_EQ(code_of(plan, "two"), "placed");
    EXPECT_EQ(code_of(plan, "three"), "group_limit");
    EXPECT_EQ(reason_of(plan, "three")->message,
              "2 jobs of group sweep of project p run or go first, and its limit is 2");
    EXPECT_EQ(code_of(plan, "other"), "placed") << "it keeps nothing from others";
}

TEST(Placement, running_jobs_of_a_group_count_also_when_its_limit_was_lowered) {
    Snapshot snapshot = Situation{{in_group(wants("next", 1), 1)}, free_host("a")}.snapshot();
    for (int i = 0; i < 2; ++i) {
        const std::string id = fmt::format("runs{}", i);
        snapshot.cores[std::size_t(i)].held_by = id;
        snapshot.running.push_back({.job_id = id, .project = "p", .group = "sweep"});
    }
    EXPECT_EQ(code_of(make_plan(snapshot), "next"), "group_limit");
    snapshot.running[0].group = snapshot.running[1].group = "another";
    EXPECT_EQ(code_of(make_plan(snapshot), "next"), "placed");
    snapshot.running[0].group = "sweep";
    snapshot.running[0].project = "q";
    EXPECT_EQ(code_of(make_plan(snapshot), "next"), "placed") << "a group is of its project";
}

// Goal: the jobs of a group start in their order, also when the first needs more cores than are
// free; one that waits for an operator is overtaken.
TEST(Placement, a_job_keeps_its_place_in_the_group_while_it_waits_for_running_jobs) {
    auto cores = free_host("a");
    cores[0].held_by = "older";
    Situation situation{{in_group(wants("big", 8), 1), in_group(wants("small", 1), 1)}, cores};
    Plan plan = plan_of(situation);
    EXPECT_EQ(code_of(plan, "big"), "waiting_for_cores");
    EXPECT_EQ(code_of(plan, "small"), "group_limit");
    situation.cores[0].held_by = "";
    situation.cores[0].drained = true;
    plan = plan_of(situation);
    EXPECT_EQ(code_of(plan, "big"), "core_drained");
    EXPECT_EQ(code_of(plan, "small"), "placed");
}

TEST(Placement, a_job_that_is_not_ready_keeps_nothing_from_others) {
    auto cores = free_host("a");
    cores[0].held_by = "older";
    WaitingJob early = wants("early", 8);
    early.due = false;
    early.due_at = "2027-01-01T00:00:00Z";
    WaitingJob checking = wants("checking", 8);
    checking.dataset_state = "checking";
    WaitingJob gone = wants("gone", 8);
    gone.dataset_state = "";
    const auto plan = plan_of({{early, checking, gone, wants("small", 1)}, cores});
    EXPECT_EQ(code_of(plan, "early"), "start_after");
    EXPECT_NE(reason_of(plan, "early")->message.find("2027-01-01"), std::string::npos);
    EXPECT_EQ(code_of(plan, "checking"), "waiting_for_dataset");
    EXPECT_EQ(code_of(plan, "gone"), "waiting_for_dataset");
    EXPECT_EQ(code_of(plan, "small"), "placed");
}

TEST(Placement, a_lost_host_and_a_core_that_no_host_has_are_told_apart) {
    auto cores = free_host("a", 4);
    EXPECT_EQ(code_of(plan_of({{wants_core("x", 7)}, cores}), "x"), "no_such_core");
    const auto small = plan_of({{wants("x", 8)}, cores});
    EXPECT_EQ(code_of(small, "x"), "waiting_for_cores");
    EXPECT_NE(small.waiting[0].message.find("largest host has 4"), std::string::npos);
    auto lost = free_host("a");
    for (CoreSlot& core : lost)
        core.alive = false;
    EXPECT_EQ(code_of(plan_of({{wants("x", 8)}, lost}), "x"), "host_lost");
    EXPECT_EQ(code_of(plan_of({{wants("x", 1)}, lost}), "x"), "host_lost");
    EXPECT_EQ(code_of(plan_of({{wants_core("x", 1)}, lost}), "x"), "host_lost");
    EXPECT_EQ(code_of(plan_of({{wants("x", 1)}, {}}), "x"), "waiting_for_cores");
}

TEST(Placement, small_jobs_pack_and_whole_hosts_stay_free) {
    auto cores = free_host("a");
    const auto other = free_host("b");
    cores.insert(cores.end(), other.begin(), other.end());
    cores[8].held_by = "older";    // core 1 of b
    const auto plan = plan_of({{wants("small", 1), wants("big", 8)}, cores});
    ASSERT_EQ(plan.start.size(), 2U);
    EXPECT_EQ(plan.start[0].host, "b");
    EXPECT_EQ(plan.start[1].host, "a");
}

TEST(Placement, a_free_core_by_number_on_another_host_is_taken) {
    auto cores = free_host("a");
    const auto other = free_host("b");
    cores.insert(cores.end(), other.begin(), other.end());
    cores[4].held_by = "older";
    const auto plan = plan_of({{wants_core("x", 5)}, cores});
    ASSERT_EQ(plan.start.size(), 1U);
    EXPECT_EQ(plan.start[0].host, "b");
}

// ---- properties over random situations ------------------------------------------------------

Situation random_situation(std::mt19937_64& random) {
    const auto below = [&random](int count) { return int(random() % std::uint64_t(count)); };
    Situation situation;
    for (int host = 0, hosts = 1 + below(3); host < hosts; ++host) {
        for (CoreSlot core : free_host("host" + std::to_string(host), below(4) == 0 ? 4 : 8)) {
            core.drained = below(12) == 0;
            core.alive = below(30) != 0;
            if (below(3) == 0)
                core.held_by = "held" + std::to_string(host) + std::to_string(core.core);
            situation.cores.push_back(core);
        }
    }
    for (int job = 0, jobs = below(30); job < jobs; ++job) {
        WaitingJob waiting = wants("job" + std::to_string(job), below(5) == 0 ? 8 : 1);
        if (waiting.cores == 1 && below(4) == 0) waiting.core_id = 1 + below(8);
        waiting.due = below(10) != 0;
        if (below(10) == 0) waiting.dataset_state = "checking";
        situation.queue.push_back(waiting);
    }
    std::ranges::shuffle(situation.cores, random);
    return situation;
}

TEST(PlacementProperties, no_core_is_given_twice_and_every_job_is_placed_or_explained) {
    std::mt19937_64 random(20261120);
    for (int round = 0; round < 3000; ++round) {
        const Situation situation = random_situation(random);
        const auto plan = plan_of({situation.queue, situation.cores});
        std::set<std::pair<std::string, int>> usable;
        for (const CoreSlot& core : situation.cores)
            if (core.alive && !core.drained && core.held_by.empty())
                usable.insert({core.host, core.core});
        std::map<std::string, WaitingJob> jobs;
        for (const WaitingJob& job : situation.queue)
            jobs.emplace(job.job_id, job);
        for (const PlacedJob& placed : plan.start) {
            const WaitingJob& job = jobs.at(placed.job_id);
            EXPECT_TRUE(job.due && job.dataset_state == "ready");
            ASSERT_EQ(int(placed.cores.size()), job.cores);
            EXPECT_EQ(placed.cores[0], job.core_id.value_or(placed.cores[0]));
            for (const int core : placed.cores)
                ASSERT_EQ(usable.erase({placed.host, core}), 1U) << "round " << round;
            jobs.erase(placed.job_id);
        }
        ASSERT_EQ(plan.waiting.size(), jobs.size());
        for (const WaitReason& reason : plan.waiting) {
            ASSERT_EQ(jobs.erase(reason.job_id), 1U);
            ASSERT_FALSE(reason.code.empty());
            ASSERT_FALSE(reason.message.empty()) << reason.code;
        }
    }
}

TEST(PlacementProperties, the_order_of_the_cores_does_not_matter) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        Situation situation = random_situation(random);
        const auto plan = plan_of({situation.queue, situation.cores});
        std::ranges::shuffle(situation.cores, random);
        const auto again = plan_of({situation.queue, situation.cores});
        ASSERT_EQ(plan.start, again.start);
        ASSERT_EQ(plan.waiting, again.waiting);
    }
}

// Goal: a pass that looks at the first jobs of each shape starts what one over the whole queue
// would. Method: both, on random machines with queues many times longer than what can start.
TEST(PlacementProperties, as_many_jobs_of_each_shape_as_there_are_cores_are_enough) {
    std::mt19937_64 random(2030);
    for (int round = 0; round < 1000; ++round) {
        Situation situation = random_situation(random);
        for (int repeat = 0; repeat < 3; ++repeat) {
            const std::vector<WaitingJob> more = random_situation(random).queue;
            for (WaitingJob job : more) {
                job.job_id += fmt::format("-{}", repeat);
                situation.queue.push_back(job);
            }
        }
        std::erase_if(situation.queue, [](const WaitingJob& job) {
            return !job.due || job.dataset_state != "ready";
        });
        std::map<std::pair<int, std::optional<int>>, std::size_t> seen;
        std::vector<WaitingJob> first;
        for (const WaitingJob& job : situation.queue)
            if (seen[{job.cores, job.core_id}]++ < situation.cores.size()) first.push_back(job);
        ASSERT_EQ(plan_of({first, situation.cores}).start,
                  plan_of({situation.queue, situation.cores}).start);
    }
}

TEST(PlacementProperties, nothing_is_left_idle_without_a_reason) {
    std::mt19937_64 random(99);
    for (int round = 0; round < 1000; ++round) {
        const Situation situation = random_situation(random);
        const auto plan = plan_of({situation.queue, situation.cores});
        // Free cores stay free beside a waiting one-core job only when an older job waits for them.
        for (const WaitReason& reason : plan.waiting) {
            const auto job = std::ranges::find(situation.queue, reason.job_id, &WaitingJob::job_id);
            if (reason.code != "behind") continue;
            const auto blocking =
                std::ranges::find(situation.queue, reason.blocking_job, &WaitingJob::job_id);
            ASSERT_NE(blocking, situation.queue.end());
            ASSERT_LT(blocking, job) << "only older jobs go first";
        }
    }
}

// Goal: no job waits for ever, whatever comes behind it. Method: a machine where jobs end at random
// and small jobs never stop coming; the 8-core job must start once those before it have ended.
TEST(PlacementProperties, a_big_job_is_not_starved_by_small_ones) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        std::mt19937_64 random(seed);
        std::vector<CoreSlot> cores = free_host("a");
        for (CoreSlot& core : cores)
            core.held_by = "first" + std::to_string(core.core);
        std::vector<WaitingJob> queue{wants("big", 8)};
        std::size_t ended_before_big = 0;
        bool started = false;
        for (int turn = 0; turn < 200; ++turn) {
            queue.push_back(wants("small" + std::to_string(turn), 1));
            const auto plan = plan_of({queue, cores});
            for (const PlacedJob& placed : plan.start) {
                started = started || placed.job_id == "big";
                for (CoreSlot& core : cores)
                    if (std::ranges::find(placed.cores, core.core) != placed.cores.end())
                        core.held_by = placed.job_id;
                std::erase_if(queue,
                              [&](const WaitingJob& job) { return job.job_id == placed.job_id; });
            }
            if (started) break;
            CoreSlot& lucky = cores[random() % cores.size()];
            ended_before_big += lucky.held_by.empty() ? 0 : 1;
            lucky.held_by.clear();
        }
        EXPECT_TRUE(started) << "seed " << seed;
        EXPECT_EQ(ended_before_big, 8U) << "only the jobs that ran before it were in its way";
    }
}

}    // namespace
}    // namespace slipway
