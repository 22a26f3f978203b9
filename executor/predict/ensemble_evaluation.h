#pragma once

#include <cstdint>
#include <functional>

#include "executor/predict/ensemble_data.h"
#include "executor/predict/ensemble_networks.h"
#include "executor/train/metric_sums.h"
#include "executor/train/task.h"

namespace slipway {

/// An evaluation of the mean of several networks. Run's thread only.
class EnsembleEvaluation {
public:
    /// What must outlive it.
    struct Parts {
        const AttemptPlan& plan;
        const TrainData& data;
        const Task& task;
        Engine& engine;
        Reporter& reporter;
    };

    /// Compiles the networks and the task, and loads the weights.
    ///   batches  as SamplerOptions of the evaluation
    /// errors  as EnsembleViews and EnsembleNetworks
    EnsembleEvaluation(const Parts& parts, const SamplerOptions& batches);

    /// The sums of the task over the samples, each counted once, as of one network that says
    /// combine_logits of all of them.
    ///   goes_on  as EvaluationRequest
    MetricSums measure(const std::function<bool(std::int64_t sample_count)>& goes_on);

private:
    LoadedBatch combined(LoadedBatch batch, const std::vector<Value>& said) const;

    const Parts parts_;
    const SamplerOptions batches_;
    const EnsembleViews views_;
    const EnsembleNetworks networks_;
    const StepProgram metrics_;    ///< reads what the networks say together as features
};

}    // namespace slipway
