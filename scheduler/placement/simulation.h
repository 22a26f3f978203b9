#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scheduler/placement/snapshot.h"

namespace slipway {

/// What a run time was taken from, the most reliable first.
enum class RunBasis {
    known,       ///< nothing had to be guessed
    progress,    ///< the rate at which the job trains
    typical,     ///< how long jobs of the project ran lately
    limit,       ///< the job's own limits of time
    assumed      ///< nothing is known: default_run
};

/// How long a job holds its cores from its start on; for one that runs, from Snapshot::now on.
struct RunEstimate {
    std::chrono::seconds lasts{0};
    RunBasis basis = RunBasis::assumed;
};

/// Of a job that nothing is known of.
inline constexpr std::chrono::seconds default_run{600};
/// What a job that gives way needs to save.
inline constexpr std::chrono::seconds assumed_save{30};

struct SimulationBounds {
    int passes_max = 2000;
    std::chrono::seconds horizon = std::chrono::days{30};    ///< simulated time
    /// Asked between passes; true: end now. For a limit of real time.
    std::function<bool()> stop = [] { return false; };
};

/// When and where a job starts for the first time.
struct SimulatedStart {
    Instant at{};
    std::string host = {};    ///< of a slice the first one
    std::vector<int> cores = {};
    /// The least reliable run time of all that ended before.
    RunBasis basis = RunBasis::known;
};

struct Simulation {
    std::map<std::string, SimulatedStart> starts = {};    ///< of jobs of the queue
    /// True: the queue ran until nothing more could start. False: a bound ended it.
    bool complete = false;
    int passes = 0;
    Instant until{};    ///< simulated
};

/// Runs the service's own planner (make_plan) forward from `snapshot`: what it starts ends after
/// its estimated time, the next pass plans with the cores that are free then, and so on. Usage of
/// projects grows and decays meanwhile, who gives way saves for assumed_save and waits again with
/// what is left of its run. Nobody else submits, ends early or fails, and no held job becomes due.
/// A job that `runs` does not know lasts default_run. Pure; the same input gives the same answer
/// unless `stop` says otherwise.
Simulation simulate(Snapshot snapshot, const std::map<std::string, RunEstimate>& runs,
                    const SimulationBounds& bounds = {});

}    // namespace slipway
