#pragma once

#include <optional>

#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

/// What another algorithm would have made of the recorded trials.
struct SweepSimulation {
    std::int64_t trials = 0;    ///< that it would have started
    std::optional<store::BestTrial> best{};
    std::optional<double> regret{};    ///< how much worse than the recorded best; 0: the same
    std::int64_t time_used = 0;        ///< epochs or steps of all its trials together
    std::int64_t time_recorded = 0;    ///< those of the sweep
    std::int64_t cut_short = 0;        ///< trials that it would have trained on than is recorded
};

/// What of a sweep is needed for it, so that its run need not be kept meanwhile.
struct RecordedSweep {
    SweepSpec spec;
    std::vector<search::Trial> trials;
    std::optional<store::BestTrial> best;
};
RecordedSweep recorded_sweep(const SweepRun& run);

/// Replays the recorded curves, the trials in their order, `max_concurrent` at a time and each unit
/// of time equally long. Trains nothing.
/// errors  throws invalid_argument for pbt, whose trials change their values
SweepSimulation simulate(const RecordedSweep& recorded, const AlgorithmSpec& algorithm,
                         std::int64_t max_concurrent, const KeepGoing& may_go_on = keep_going);

}    // namespace slipway::sweeps
