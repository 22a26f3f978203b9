#pragma once

#include <cstddef>
#include <vector>

#include "executor/optim/optimizer.h"
#include "executor/train/model.h"

namespace slipway {

/// One training step as a graph.
///   leaves   parameters…, slots… (parameter by parameter), statistics…, sums…, hyper, features,
///            labels, weights
///   outputs  parameters…, slots…, statistics… (donated), loss (this batch's part of the mean over
///            all samples of the step), correct (summed weights)
/// The sums are what the batches before it left (AccumulationStep), one per parameter; a step of
/// one batch has none.
struct TrainStep {
    Graph graph;
    std::size_t parameter_count = 0;
    std::size_t slot_count = 0;    ///< over all parameters
    std::size_t statistic_count = 0;

    std::size_t state_count() const { return parameter_count + slot_count + statistic_count; }
};

/// All batches of a step but the last: adds their gradients up and leaves the weights alone. The
/// same graph for each of them, however many there are.
///   leaves   parameters…, statistics…, sums… (of each parameter's shape), hyper, features, labels,
///            weights
///   outputs  sums… (donated), statistics…, loss and correct as in TrainStep
struct AccumulationStep {
    Graph graph;
    std::size_t parameter_count = 0;
};

/// One evaluation step: batch norm by its statistics.
///   leaves   parameters…, statistics…, features, labels, weights
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

/// Whether a step's last batch finds sums of batches before it.
enum class Accumulation { none, finished };

/// Traces forward, backward, the all_reduce of the gradients and the optimizer's update. Runs
/// nothing.
TrainStep trace_train_step(const Model& model, const Optimizer& optimizer, const BatchShape& batch,
                           Accumulation accumulation = Accumulation::none);
/// Traces forward, backward, the all_reduce of the gradients and their sums.
AccumulationStep trace_accumulation_step(const Model& model, const BatchShape& batch);
/// Traces forward and the sums of loss and hits.
EvaluationStep trace_evaluation_step(const Model& model, const BatchShape& batch);

}    // namespace slipway
