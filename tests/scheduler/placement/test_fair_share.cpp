#include "scheduler/placement/fair_share.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "scheduler/placement/placement.h"

namespace slipway {
namespace {

using std::chrono::seconds;

WaitingJob job_of(const std::string& project, const std::string& id, int cores = 1) {
    return {.job_id = id, .cores = cores, .core_id = {}, .due_at = {}, .project = project};
}

std::vector<std::string> ids(const std::vector<WaitingJob>& queue) {
    std::vector<std::string> ids;
    for (const WaitingJob& job : queue)
        ids.push_back(job.job_id);
    return ids;
}

using Ids = std::vector<std::string>;
const CoreCounts many(100);

TEST(FairShare, one_project_keeps_class_age_and_id) {
    WaitingJob urgent = job_of("p", "j4");
    urgent.class_rank = 0;
    WaitingJob old = job_of("p", "j3");
    old.queued_at = Instant{} - seconds{5};
    EXPECT_EQ(ids(in_fair_order({job_of("p", "j2"), job_of("p", "j1"), old, urgent}, {}, many)),
              (Ids{"j4", "j3", "j1", "j2"}));
}

TEST(FairShare, projects_that_are_level_take_turns) {
    EXPECT_EQ(ids(in_fair_order({job_of("a", "j1"), job_of("a", "j2"), job_of("a", "j3"),
                                 job_of("b", "j4"), job_of("b", "j5")},
                                {}, many)),
              (Ids{"j1", "j4", "j2", "j5", "j3"}));
}

TEST(FairShare, turns_come_by_weight) {
    std::vector<WaitingJob> queue;
    for (int i = 0; i < 6; ++i) {
        queue.push_back(job_of("light", fmt::format("light{}", i)));
        queue.push_back(job_of("heavy", fmt::format("zheavy{}", i)));
    }
    const auto order = ids(in_fair_order(
        queue, {{.name = "light", .weight = 1}, {.name = "heavy", .weight = 2}}, many));
    EXPECT_EQ(std::ranges::count_if(order.begin(), order.begin() + 6,
                                    [](const std::string& id) { return id.starts_with("z"); }),
              4);
}

// A group of 100 jobs with a limit of one is one turn.
TEST(FairShare, only_as_many_jobs_of_a_group_as_may_run_count_as_turns) {
    std::vector<WaitingJob> queue;
    for (int i = 0; i < 5; ++i) {
        queue.push_back(job_of("a", fmt::format("j{}", i)));
        queue.back().group = "sweep";
        queue.back().group_limit = 1;
    }
    queue.push_back(job_of("a", "j5"));
    queue.push_back(job_of("b", "k1"));
    queue.push_back(job_of("b", "k2"));
    const auto order = ids(in_fair_order(queue, {}, many));
    const auto place = [&](const char* id) { return std::ranges::find(order, id) - order.begin(); };
    EXPECT_LT(place("j5"), place("k2")) << "one of the group and j5 are its turns";
    const auto full = ids(in_fair_order(queue, {}, many, {{{"a", "sweep"}, 1}}));
    EXPECT_LT(std::ranges::find(full, "j5"), std::ranges::find(full, "k2"));
}

TEST(FairShare, who_has_used_less_goes_first_until_level) {
    const std::vector<ProjectShare> shares{{.name = "a", .usage_core_s = 3 * turn_s},
                                           {.name = "b", .usage_core_s = turn_s}};
    EXPECT_EQ(ids(in_fair_order({job_of("a", "j1"), job_of("a", "j2"), job_of("b", "j3"),
                                 job_of("b", "j4"), job_of("b", "j5")},
                                shares, many)),
              (Ids{"j3", "j4", "j1", "j5", "j2"}));
}

TEST(FairShare, a_class_goes_before_every_share) {
    WaitingJob high = job_of("greedy", "j9");
    high.class_rank = 1;
    EXPECT_EQ(ids(in_fair_order({job_of("modest", "j1"), high},
                                {{.name = "greedy", .usage_core_s = 1e9}}, many)),
              (Ids{"j9", "j1"}));
}

TEST(FairShare, many_cores_are_many_turns) {
    EXPECT_EQ(ids(in_fair_order(
                  {job_of("a", "j1", 8), job_of("a", "j2"), job_of("b", "j3"), job_of("b", "j4")},
                  {}, many)),
              (Ids{"j1", "j3", "j4", "j2"}));
}

TEST(FairShare, what_waits_behind_the_first_of_a_shape_changes_nothing) {
    std::vector<WaitingJob> queue{job_of("a", "j1"), job_of("a", "j2"), job_of("b", "j7")};
    const auto few = ids(in_fair_order(queue, {}, CoreCounts(2)));
    WaitingJob last = job_of("a", "j8", 8);
    for (int i = 0; i < 3; ++i)
        queue.push_back(job_of("a", fmt::format("j3{}", i)));
    queue.push_back(last);
    const auto order = in_fair_order(queue, {}, CoreCounts(2));
    EXPECT_EQ(Ids(few), (Ids{"j1", "j7", "j2"}));
    const auto place = [&](const std::string& id) {
        return std::ranges::find(order, id, &WaitingJob::job_id) - order.begin();
    };
    EXPECT_LT(place("j7"), place("j2"));
    EXPECT_LT(place("j32"), place("j8"));
}

// Goal: over time each project gets cores in proportion to its weight, whatever its jobs look like.
// Method: the planner over one host with endless queues, 10,000 jobs; usage is counted and decays
// as the store does it, by half a day's half-life (docs/decisions/0036).
struct Tenant {
    std::string name;
    double weight;
    int cores;         // of each job
    int runs_for_s;    // likewise
    double usage_core_s = 0;
    double had_core_s = 0;
};

std::map<std::string, double> simulate(std::vector<Tenant> tenants, int jobs) {
    struct Run {
        int tenant, cores, ends_at_s;
    };
    constexpr double half_life_s = 86400;
    constexpr int step_s = 1;
    const double keep = std::exp2(-step_s / half_life_s);
    std::vector<CoreSlot> cores;
    for (int core = 1; core <= 8; ++core)
        cores.push_back({.host = "h", .core = core, .held_by = {}});
    std::map<std::string, Run> running;
    int started = 0;
    for (int now_s = 0; started < jobs; now_s += step_s) {
        Snapshot snapshot;
        for (std::size_t i = 0; i < tenants.size(); ++i) {
            snapshot.projects.push_back({.name = tenants[i].name,
                                         .weight = tenants[i].weight,
                                         .usage_core_s = tenants[i].usage_core_s});
            for (int k = 0; k < 8; ++k)
                snapshot.queue.push_back(job_of(
                    tenants[i].name, fmt::format("{}/{}/{}", now_s, i, k), tenants[i].cores));
        }
        snapshot.cores = cores;
        for (const PlacedJob& placed : make_plan(snapshot).start) {
            const int tenant = placed.job_id[placed.job_id.find('/') + 1] - '0';
            for (CoreSlot& core : cores)
                if (std::ranges::count(placed.cores, core.core) > 0) core.held_by = placed.job_id;
            running[placed.job_id] = {tenant, int(placed.cores.size()),
                                      now_s + tenants[std::size_t(tenant)].runs_for_s};
            ++started;
        }
        for (Tenant& tenant : tenants)
            tenant.usage_core_s *= keep;
        std::erase_if(running, [&](const auto& each) {
            Tenant& tenant = tenants[std::size_t(each.second.tenant)];
            tenant.usage_core_s += each.second.cores * step_s;
            tenant.had_core_s += each.second.cores * step_s;
            if (each.second.ends_at_s > now_s + step_s) return false;
            for (CoreSlot& core : cores)
                if (core.held_by == each.first) core.held_by.clear();
            return true;
        });
    }
    double all = 0;
    for (const Tenant& tenant : tenants)
        all += tenant.had_core_s;
    std::map<std::string, double> shares;
    for (const Tenant& tenant : tenants)
        shares[tenant.name] = tenant.had_core_s / all;
    return shares;
}

TEST(FairShare, endless_queues_of_weights_1_2_5_get_their_shares_within_two_percent) {
    const auto shares = simulate({{"a", 1, 1, 20}, {"b", 2, 1, 20}, {"c", 5, 1, 20}}, 10'000);
    for (const auto& [name, wanted] :
         std::map<std::string, double>{{"a", 1. / 8}, {"b", 2. / 8}, {"c", 5. / 8}}) {
        std::printf("project %s: %.4f of the core-seconds, entitled to %.4f\n", name.c_str(),
                    shares.at(name), wanted);
        EXPECT_NEAR(shares.at(name), wanted, 0.02 * wanted) << name;
    }
}

TEST(FairShare, jobs_of_any_length_and_size_get_the_same_shares) {
    const auto shares = simulate({{"a", 1, 1, 3}, {"b", 2, 2, 60}, {"c", 5, 1, 17}}, 10'000);
    EXPECT_NEAR(shares.at("a"), 1. / 8, 0.02 / 8);
    EXPECT_NEAR(shares.at("b"), 2. / 8, 0.02 * 2 / 8);
    EXPECT_NEAR(shares.at("c"), 5. / 8, 0.02 * 5 / 8);
}

TEST(FairShare, what_one_project_leaves_the_others_get) {
    const auto shares = simulate({{"a", 1, 1, 10}, {"b", 3, 1, 10}}, 2'000);
    EXPECT_NEAR(shares.at("a"), 0.25, 0.005);
    EXPECT_NEAR(simulate({{"alone", 1, 1, 10}}, 500).at("alone"), 1, 1e-9);
}

}    // namespace
}    // namespace slipway
