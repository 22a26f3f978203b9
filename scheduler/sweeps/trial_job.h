#pragma once

#include "api/spec/documents.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/sweeps/coordinator.h"

namespace slipway::sweeps {

/// The job that a trial wants: its point in the sweep's job spec; one that goes on begins with the
/// checkpoint of its last job, or of the trial whose weights it takes over. Problems are those of
/// the job that is made so.
Decoded<submission::CheckedJob> make_trial_job(store::Store& store, const SweepRun& run,
                                               const WantedJob& wanted);

}    // namespace slipway::sweeps
