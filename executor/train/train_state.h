#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/data/sampler.h"
#include "executor/train/keep.h"
#include "executor/train/model.h"
#include "executor/train/settings.h"

namespace slipway {

/// All that changes while a job trains, and all that a checkpoint holds.
struct TrainState {
    std::vector<Array> values;    ///< parameters…, then slots… parameter by parameter
    std::int64_t step = 0;        ///< steps done
    std::int64_t samples = 0;     ///< training samples seen
    SamplerPosition position;     ///< of the next batch
    KeptCheckpoints kept;
};

/// Step 0: the model's initial values, slots of zeros.
TrainState initial_state(const Model& model, const Optimizer& optimizer);

Checkpoint to_checkpoint(const TrainState& state, const Model& model, const TrainSettings& settings,
                         std::uint64_t seed);
/// errors  TrainError checkpoint_corrupt when it is damaged, or is of another model or optimizer
TrainState from_checkpoint(const std::filesystem::path& folder, const Model& model,
                           const TrainSettings& settings);

}    // namespace slipway
