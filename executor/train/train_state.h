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
    /// trained parameters…, optimizer state… parameter by parameter, statistics…: the order of
    /// trace_train_step's outputs
    std::vector<Array> values;
    std::vector<Array> frozen;                 ///< frozen parameters
    std::vector<std::int64_t> batch_counts;    ///< as ParameterList::batch_counts
    std::int64_t step = 0;                     ///< steps done
    std::int64_t samples = 0;                  ///< training samples seen
    SamplerPosition position;                  ///< of the next batch
    KeptCheckpoints kept;
    EarlyStopping early_stopping;
    /// Of a resumed run: what differs from the spec of the checkpoint, "field: before -> now".
    std::vector<std::string> spec_changes;
    CheckpointWriter writer;    ///< of a resumed run: who saved the checkpoint
};

/// Step 0: the model's initial values, optimizer state of zeros; averages begin as the parameters.
TrainState initial_state(const Model& model, const UpdatePlan& plan);

/// parameters…, statistics…: the network that is evaluated and used. With a plan that averages the
/// averages of the parameters. The arrays are shared with `state`, not copied.
std::vector<Array> network_values(const TrainState& state, const Model& model,
                                  const UpdatePlan& plan);

/// model.safetensors is network_values; when those are averages, the parameters themselves are
/// beside the optimizer state in optimizer.safetensors, as NAME.raw.
Checkpoint to_checkpoint(const TrainState& state, const Model& model, const UpdatePlan& plan,
                         const TrainSettings& settings, const JobSpec& spec);
/// errors  TrainError checkpoint_corrupt when it is damaged; spec_error when it is of another model
///         or optimizer and the spec has changed since, with what has
TrainState from_checkpoint(const std::filesystem::path& folder, const JobSpec& spec,
                           const Model& model, const UpdatePlan& plan);

}    // namespace slipway
