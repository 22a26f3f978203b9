#pragma once

#include "scheduler/sweeps/sweep_run.h"

namespace slipway::sweeps {

// Whether nothing of the sweep needs what a job of it, which has ended, has left. Whether it may be
// deleted is for the spec to say. Needed is what is left by
//   a trial that runs or waits to go on (until the sweep has ended), whichever of its jobs
//   of pbt, every job of the newest generation: others may take its weights
//   the newest job of a trial that failed and can be tried again
//   the best trial: of a cross-validation, every fold; else the newest job, and whichever job has
//   the weights with the trial's value
//   of a sweep that judges by last values, likewise the best of the trials that have ended: one
//   that trains on may become worse
// Pure.

/// The programs and the timeline of a job's report.
bool is_passed_by(const SweepRun& run, const store::EndedTrialJob& job);
bool is_passed_by(const SweepRun& run, const store::IdleCheckpoint& checkpoint);

}    // namespace slipway::sweeps
