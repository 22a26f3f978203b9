#pragma once

#include "api/spec/checkpoint_writer.h"
#include "executor/train/metric_sums.h"
#include "executor/train/reporter.h"
#include "executor/train/settings.h"
#include "executor/train/train_state.h"

namespace slipway {

/// Who saves a checkpoint.
struct CheckpointOrigin {
    int attempt = 1;
    CheckpointWriter writer = {};
};

/// What is reported of the checkpoint that `state` becomes next, but for its files. Which
/// checkpoints are kept with it becomes part of the state.
/// evaluated  the metrics of this step; empty: it was not evaluated
SavedCheckpoint next_checkpoint(TrainState& state, const TrainSettings& settings,
                                const MetricValues& evaluated, const CheckpointOrigin& origin);

}    // namespace slipway
