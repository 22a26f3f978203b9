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
    /// `accumulates`: a step has more than one batch, whose gradients are added up. `sum_names` are
    /// the programs' (TrainStep).
    StepInProgress(const Model& model, const UpdatePlan& plan, bool accumulates,
                   std::vector<std::string> sum_names, const DropoutSource& dropout = {});

    /// What the program of this batch reads, in the order of train/step.h.
    std::vector<Value> leaves(const TrainState& state, const Hyper& hyper,
                              const LoadedBatch& batch) const;
    /// Keeps what it gave. The last batch of a step moves `state.values`; donated outputs lie where
    /// they were.
    void take(const std::vector<Value>& outputs, const LoadedBatch& batch, TrainState& state);
    /// The task's sums once the last batch is taken; the next step begins.
    MetricSums finish();
    /// Of the last step that ended, before clipping; none when nothing is clipped.
    std::optional<double> gradient_norm() const { return gradient_norm_; }

private:
    std::size_t parameter_count_ = 0, statistic_count_ = 0;
    bool clips_ = false;
    std::vector<Array> gradient_sums_;    ///< of trained parameters; none when a step is one batch
    std::vector<Array> statistics_;       ///< as the step's batches left them; none before them
    std::vector<std::string> sum_names_;
    DropoutSource dropout_;
    MetricSums sums_;
    std::optional<double> gradient_norm_;
};

}    // namespace slipway
