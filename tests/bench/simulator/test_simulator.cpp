// Goal: the scheduler's decisions keep every promise whatever happens around them, and the
// simulation that says so would notice if they did not.
// Method: 200 seeds here, 100,000 by bench_scheduler_simulator; then the same with one
// rule broken on purpose at a time.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "bench/simulator/simulate.h"

namespace slipway::simulator {
namespace {

using testing::HasSubstr;

TEST(Simulator, keeps_every_promise) {
    constexpr std::uint64_t seeds = 200;
    Tally tally;
    double simulated_s = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = make_scenario(seed);
        const Outcome outcome = simulate(scenario);
        ASSERT_FALSE(outcome.violation) << report(scenario, BrokenRule::none, *outcome.violation);
        tally.add(outcome.tally);
        simulated_s += outcome.simulated_s;
    }
    std::printf("%d seeds, %.0f simulated seconds, 0 violations\n", int(seeds), simulated_s);
    // What is to be survived does happen.
    EXPECT_GT(tally.faults, seeds);
    EXPECT_GT(tally.rescued, seeds / 4);
    EXPECT_GT(tally.preempted, seeds / 4);
    EXPECT_GT(tally.fenced, seeds / 4);
    EXPECT_GT(tally.leaders, seeds);
    EXPECT_GT(tally.lost_races, 0);
}

TEST(Simulator, the_same_seed_gives_the_same_run) {
    std::vector<std::string> first, second;
    simulate(make_scenario(16), BrokenRule::none, &first);
    simulate(make_scenario(16), BrokenRule::none, &second);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, second);
}

/// A rule that is broken, and the promise that is then seen to be.
struct Broken {
    BrokenRule rule;
    const char* promise;
};

class BrokenRules : public testing::TestWithParam<Broken> {};

TEST_P(BrokenRules, are_found_and_told_in_short) {
    const auto [rule, promise] = GetParam();
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const Scenario scenario = make_scenario(seed);
        const Outcome outcome = simulate(scenario, rule);
        if (!outcome.violation || outcome.violation->promise() != promise) continue;
        const Scenario smallest = shrink(scenario, rule, promise);
        EXPECT_LT(smallest.stimuli.size(), 20U);
        EXPECT_LT(smallest.stimuli.size(), scenario.stimuli.size() / 2);
        EXPECT_FALSE(simulate(smallest).violation) << "without the broken rule it is kept";
        const std::string told = report(smallest, rule, *outcome.violation);
        EXPECT_THAT(told, HasSubstr(fmt::format("seed {}: {}: ", seed, promise)));
        EXPECT_THAT(told, HasSubstr("what happened last:\n"));
        return;
    }
    FAIL() << "no seed has found it";
}

constexpr Broken broken_rules[] = {
    {BrokenRule::fence_ignored, "fence"},
    {BrokenRule::leases_freed_by_core, "leases of live attempts"},
    {BrokenRule::leased_cores_given, "no core twice"},
    {BrokenRule::rescue_without_a_look, "a heartbeat in time wins"},
    {BrokenRule::queue_row_forgotten, "no lost job"},
    {BrokenRule::lost_host_counted, "a lost host is not the job's"},
    {BrokenRule::frames_stored_twice, "frames once and in order"},
    {BrokenRule::older_checkpoint_resumed, "steps without gaps"},
    {BrokenRule::term_ignored, "a replaced leader writes nothing"},
    {BrokenRule::newest_job_first, "no job waits for ever"},
    {BrokenRule::cores_freed_early, "cores of processes that are gone"},
    {BrokenRule::key_forgotten, "one job a key"},
    {BrokenRule::intent_dropped, "an end as the job's life says"},
};

INSTANTIATE_TEST_SUITE_P(Each, BrokenRules, testing::ValuesIn(broken_rules),
                         [](const auto& row) { return std::string(to_string(row.param.rule)); });

TEST(BrokenRule, has_its_promise) {
    EXPECT_EQ(std::size(broken_rules) + 1, Spelling<BrokenRule>::words.size());
}

}    // namespace
}    // namespace slipway::simulator
