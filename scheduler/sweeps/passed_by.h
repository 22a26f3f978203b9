#pragma once

#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

/// Whether nothing of the sweep needs this job of it, which has ended: its checkpoints, the
/// programs of its report. Whether they may be deleted is for the spec to say. Needed are those of
///   a trial that runs or waits to go on (until the sweep has ended), whichever of its jobs
///   of pbt, every job of the newest generation: others may take its weights
///   the newest job of a trial that failed and can be tried again
///   the newest job of the best trial; of a cross-validation, every fold of it
/// Pure.
bool is_passed_by(const SweepRun& run, const std::string& job_id, const std::string& key);

}    // namespace slipway::sweeps
