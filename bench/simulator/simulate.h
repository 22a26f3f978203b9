#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/simulator/rules.h"
#include "bench/simulator/stimulus.h"
#include "bench/simulator/store_model.h"

namespace slipway::simulator {

/// How a run went.
struct Outcome {
    double simulated_s = 0;
    Tally tally = {};
    std::optional<Violation> violation = {};
};

/// `lines`: where what happens is told, or null.
Outcome simulate(const Scenario& scenario, BrokenRule broken = BrokenRule::none,
                 std::vector<std::string>* lines = nullptr);

/// What of the scenario is needed for it to break the same promise: nothing that is left can be
/// left out alone.
Scenario shrink(Scenario scenario, BrokenRule broken, const std::string& promise);

/// The seed, the promise, what had to happen, and the last lines of what did.
std::string report(const Scenario& scenario, BrokenRule broken, const Violation& violation);

}    // namespace slipway::simulator
