#pragma once

#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// Trains from the plan to the end, a stop request or an error. Blocks; call from one thread.
/// errors  TrainError, or Error{exhausted} for a full disk, Error{internal} for ours
TrainOutcome run_training(const AttemptPlan& plan, Reporter& reporter);

}    // namespace slipway
