#pragma once

#include <optional>
#include <vector>

#include "executor/data/loader.h"
#include "executor/engine/engine.h"
#include "executor/optim/hyper.h"
#include "executor/train/dropout.h"
#include "executor/train/metric_sums.h"
#include "executor/train/train_state.h"

namespace slipway {

/// A step while its batches run: what each program reads, and what the batches have added up and
/// moved so far. Nothing of it is saved: a step that does not end has changed no state.
class StepInProgress {
public:
    StepInProgress() = default;
    /// `last` is of the program of a step's last batch, `before` of that of the batches before it;
    /// none: a step is one batch.
    StepInProgress(const Model& model, const UpdatePlan& plan, StepBindings last,
                   std::optional<StepBindings> before = {}, const DropoutSource& dropout = {});

    /// What the program of this batch reads.
    std::vector<Value> inputs(const TrainState& state, const Hyper& hyper,
                              const LoadedBatch& batch) const;
    /// Keeps what it gave. The last batch of a step moves `state.values`; donated outputs lie where
    /// they were.
    void take(const std::vector<Value>& outputs, const LoadedBatch& batch, TrainState& state);
    /// The task's sums once the last batch is taken; the next step begins.
    MetricSums finish();
    /// Of the last step that ended, before clipping; none when nothing is clipped.
    std::optional<double> gradient_norm() const { return gradient_norm_; }

private:
    const StepBindings& bindings_of(const LoadedBatch& batch) const {
        return batch.ends_step ? last_ : *before_;
    }

    StepBindings last_;
    std::optional<StepBindings> before_;
    std::vector<Array> gradient_sums_;    ///< of trained parameters; none when a step is one batch
    std::vector<Array> statistics_;       ///< as the step's batches left them; none before them
    DropoutSource dropout_;
    MetricSums sums_;
    std::optional<double> gradient_norm_;
};

}    // namespace slipway
