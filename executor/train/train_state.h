#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/checkpoint/checkpoint.h"
#include "executor/data/sampler.h"
#include "executor/optim/update_plan.h"
#include "executor/train/early_stopping.h"
#include "executor/train/keep.h"
#include "executor/train/model.h"
#include "executor/train/settings.h"

namespace slipway {

/// All that changes while a job trains, and all that a checkpoint holds.
struct TrainState {
    /// trained parameters…, slots… parameter by parameter, statistics…: the order of TrainStep's
    /// outputs
    std::vector<Array> values;
    std::vector<Array> frozen;                 ///< frozen parameters
    std::vector<std::int64_t> batch_counts;    ///< as ParameterList::batch_counts
    std::int64_t step = 0;                     ///< steps done
    std::int64_t samples = 0;                  ///< training samples seen
    SamplerPosition position;                  ///< of the next batch
    KeptCheckpoints kept;
    EarlyStopping early_stopping;
};

/// Step 0: the model's initial values, slots of zeros; averages begin as the parameters.
TrainState initial_state(const Model& model, const UpdatePlan& plan);

/// parameters…, statistics…: the network that is evaluated and used. With a plan that averages the
/// averages of the parameters. The arrays are shared with `state`, not copied.
std::vector<Array> network_values(const TrainState& state, const Model& model,
                                  const UpdatePlan& plan);

/// model.safetensors is network_values; when those are averages, the parameters themselves are
/// beside the slots in optimizer.safetensors, as NAME.raw.
Checkpoint to_checkpoint(const TrainState& state, const Model& model, const UpdatePlan& plan,
                         const TrainSettings& settings, std::uint64_t seed);
/// errors  TrainError checkpoint_corrupt when it is damaged, or is of another model or optimizer
TrainState from_checkpoint(const std::filesystem::path& folder, const Model& model,
                           const UpdatePlan& plan);

}    // namespace slipway
