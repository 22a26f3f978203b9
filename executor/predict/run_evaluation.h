#pragma once

#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// Measures the network of the plan's checkpoint on the plan's samples as the evaluations of its
/// training do: same batches, same parts, same order of sums, so that the validation samples of
/// the training give the same bits, on any number of cores. Writes evaluation.json into the plan's
/// report folder (docs/formats.md), and gives one point of each metric at the checkpoint's step.
/// Blocks; call from one thread.
/// returns the metrics as final values, "val_loss" first, with the number of "samples"; a run that
///         was asked to stop has none
/// errors  TrainError as run_training
TrainOutcome run_evaluation(const AttemptPlan& plan, Reporter& reporter);

}    // namespace slipway
