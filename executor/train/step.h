#pragma once

#include <cstddef>
#include <vector>

#include "executor/optim/optimizer.h"
#include "executor/train/model.h"

namespace slipway {

/// One training step as a graph.
///   leaves   parameters…, slots… (parameter by parameter), hyper, features, labels, weights
///   outputs  parameters…, slots… (donated), loss (mean over the global batch), correct (summed
///   weights)
struct TrainStep {
    Graph graph;
    std::size_t parameter_count = 0;
    std::size_t slot_count = 0;    ///< over all parameters

    std::size_t state_count() const { return parameter_count + slot_count; }
};

/// One evaluation step.
///   leaves   parameters…, features, labels, weights
///   outputs  loss (summed over the batch, weighted), correct (summed weights)
struct EvaluationStep {
    Graph graph;
    std::size_t parameter_count = 0;
};

/// features of one core: [batch_size_per_core, …sample_dims].
struct BatchShape {
    std::int64_t batch_size_per_core = 1;
    Dims sample_dims;
};

/// Traces forward, backward, the all_reduce of the gradients and the optimizer's update. Runs
/// nothing.
TrainStep trace_train_step(const Model& model, const Optimizer& optimizer, const BatchShape& batch);
/// Traces forward and the sums of loss and hits.
EvaluationStep trace_evaluation_step(const Model& model, const BatchShape& batch);

}    // namespace slipway
