#include "bench/simulator/simulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/simulator/world.h"

namespace slipway::simulator {

namespace {

constexpr std::size_t lines_told = 40;

bool breaks(const Scenario& scenario, BrokenRule broken, const std::string& promise) {
    const Outcome outcome = simulate(scenario, broken);
    return outcome.violation && outcome.violation->promise() == promise;
}

/// Without `count` of what happens, from `first` on.
Scenario without(const Scenario& scenario, std::size_t first, std::size_t count) {
    Scenario less = scenario;
    const auto begin = less.stimuli.begin() + std::ptrdiff_t(first);
    less.stimuli.erase(begin, begin + std::ptrdiff_t(std::min(count, less.stimuli.size() - first)));
    return less;
}

}    // namespace

Outcome simulate(const Scenario& scenario, BrokenRule broken, std::vector<std::string>* lines) {
    World world(scenario, broken, lines);
    Outcome outcome;
    try {
        outcome.simulated_s = world.run().count();
    } catch (const Violation& violation) {
        outcome.violation = violation;
    }
    outcome.tally = world.tally();
    return outcome;
}

Scenario shrink(Scenario scenario, BrokenRule broken, const std::string& promise) {
    for (std::size_t count = scenario.stimuli.size() / 2; count > 0; count /= 2) {
        for (bool shorter = true; shorter;) {
            shorter = false;
            for (std::size_t first = 0; first < scenario.stimuli.size();) {
                Scenario less = without(scenario, first, count);
                if (breaks(less, broken, promise)) {
                    scenario = std::move(less);
                    shorter = true;
                } else {
                    first += count;
                }
            }
        }
    }
    return scenario;
}

std::string report(const Scenario& scenario, BrokenRule broken, const Violation& violation) {
    const Scenario smallest = shrink(scenario, broken, violation.promise());
    std::vector<std::string> lines;
    const Outcome outcome = simulate(smallest, broken, &lines);
    std::string text = fmt::format("seed {}: {}\nhosts {} of {} cores\n", scenario.seed,
                                   outcome.violation ? outcome.violation->what() : "not repeated",
                                   smallest.hosts_at_begin, fmt::join(smallest.hosts, ", "));
    for (const Stimulus& stimulus : smallest.stimuli)
        text += describe(stimulus) + "\n";
    text += "what happened last:\n";
    const std::size_t first = lines.size() > lines_told ? lines.size() - lines_told : 0;
    for (std::size_t i = first; i < lines.size(); ++i)
        text += lines[i] + "\n";
    return text;
}

}    // namespace slipway::simulator
