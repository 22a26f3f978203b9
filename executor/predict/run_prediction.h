#pragma once

#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// Runs the network of the plan's prediction over its samples, forward alone, and writes
/// predictions_file_name into the plan's report folder: a header, then one row for each sample in
/// the dataset's order (docs/predictions.md). The file is there when all of it is, and not before;
/// the same plan gives the same bytes, whatever the number of threads. With the same global batch
/// one core gives the bytes of eight. Blocks; call from one thread.
/// returns the samples as "samples" among the final values; a run that was asked to stop leaves no
///         file
/// errors  TrainError as run_training
TrainOutcome run_prediction(const AttemptPlan& plan, Reporter& reporter);

}    // namespace slipway
