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
    /// parameters…, slots… parameter by parameter, statistics…: the order of TrainStep's outputs
    std::vector<Array> values;
    std::vector<std::int64_t> batch_counts;    ///< as ParameterList::batch_counts
    std::int64_t step = 0;                     ///< steps done
    std::int64_t samples = 0;                  ///< training samples seen
    SamplerPosition position;                  ///< of the next batch
    KeptCheckpoints kept;
};

/// Step 0: the model's initial values, slots of zeros.
TrainState initial_state(const Model& model, const Optimizer& optimizer);

/// parameters…, statistics…: what an evaluation and the batches of a step but the last read. The
/// arrays are shared with `state`, not copied.
std::vector<Array> network_values(const TrainState& state, const Model& model);

Checkpoint to_checkpoint(const TrainState& state, const Model& model, const TrainSettings& settings,
                         std::uint64_t seed);
/// errors  TrainError checkpoint_corrupt when it is damaged, or is of another model or optimizer
TrainState from_checkpoint(const std::filesystem::path& folder, const Model& model,
                           const TrainSettings& settings);

}    // namespace slipway
