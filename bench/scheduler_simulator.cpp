#include <fmt/core.h>

#include <chrono>
#include <cstdlib>

#include "api/base/clock.h"
#include "bench/simulator/simulate.h"

/// Runs the scheduler, the agents and a store in memory through seeds, each a service with its own
/// hosts, jobs and faults, and checks every promise after every step. A seed that breaks one is
/// told, with what had to happen and what did; then the exit code is 1.
///   usage: bench_scheduler_simulator [SEEDS [FIRST [RULE]]]     (1000, 1, none)
/// RULE is one of bench/simulator/rules.h that is broken on purpose.
namespace slipway::simulator {
namespace {

int run_seeds(std::uint64_t seeds, std::uint64_t first, BrokenRule broken) {
    const Tick begun = system_clock().tick();
    Tally tally;
    double simulated_s = 0;
    std::int64_t violations = 0;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        const Scenario scenario = make_scenario(seed);
        const Outcome outcome = simulate(scenario, broken);
        simulated_s += outcome.simulated_s;
        tally.add(outcome.tally);
        if (!outcome.violation) continue;
        if (++violations <= 3) fmt::print("{}\n", report(scenario, broken, *outcome.violation));
    }
    const double real_s = std::chrono::duration<double>(system_clock().tick() - begun).count();
    fmt::print(
        "{} seeds: {} jobs, {} attempts, {} faults, {} attempts rescued, {} jobs preempted, {} "
        "leaders, {} late placements and {} writes of replaced attempts not taken\n"
        "{:.1f} days simulated in {:.1f} s, {:.0f} times as fast; {} violations\n",
        seeds, tally.jobs, tally.attempts, tally.faults, tally.rescued, tally.preempted,
        tally.leaders, tally.lost_races, tally.fenced, simulated_s / 86400, real_s,
        simulated_s / real_s, violations);
    return violations == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway::simulator

int main(int count, char** words) {
    const auto number = [&](int place, std::uint64_t otherwise) {
        return count > place ? std::strtoull(words[place], nullptr, 10) : otherwise;
    };
    const auto broken =
        slipway::parse_word<slipway::simulator::BrokenRule>(count > 3 ? words[3] : "none");
    if (!broken) {
        fmt::print(stderr, "{} is no rule of bench/simulator/rules.h\n", words[3]);
        return 2;
    }
    return slipway::simulator::run_seeds(number(1, 1000), number(2, 1), *broken);
}
