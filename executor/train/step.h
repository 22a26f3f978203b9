#pragma once

#include <cstddef>
#include <vector>

#include "executor/optim/update_plan.h"
#include "executor/train/task.h"

namespace slipway {

/// One training step as a graph.
///   leaves   trained parameters…, slots… (parameter by parameter), statistics…, sums…, frozen
///            parameters…, hyper, dropout…, features, labels, weights
///   outputs  trained parameters…, slots…, statistics… (donated), for a plan that clips the
///            gradients' norm before that, the task's sums over all cores
/// The sums are what the batches before it left (AccumulationStep), one per trained parameter; a
/// step of one batch has none. A network that drops nothing has no leaves of dropout
/// (train/dropout.h).
struct TrainStep {
    Graph graph;
    std::size_t parameter_count = 0;    ///< trained ones
    std::size_t slot_count = 0;         ///< over all of them
    std::size_t statistic_count = 0;
    std::vector<std::string> sum_names;

    std::size_t state_count() const { return parameter_count + slot_count + statistic_count; }
};

/// All batches of a step but the last: adds their gradients up and leaves the weights alone. The
/// same graph for each of them, however many there are.
///   leaves   trained parameters…, statistics…, sums… (of each one's shape), frozen parameters…,
///            hyper, dropout…, features, labels, weights
///   outputs  sums… (donated), statistics…, the task's sums as in TrainStep
struct AccumulationStep {
    Graph graph;
    std::size_t parameter_count = 0;    ///< trained ones
    std::vector<std::string> sum_names;
};

/// One evaluation step: batch norm by its statistics.
///   leaves   parameters…, statistics…, features, labels, weights
///   outputs  the task's sums over all cores, then its rows as each core has them
struct EvaluationStep {
    Graph graph;
    std::size_t parameter_count = 0;
    std::vector<std::string> sum_names, row_names;
};

/// Whether a step's last batch finds sums of batches before it.
enum class Accumulation { none, finished };

/// Traces forward, backward, the all_reduce of the gradients and the optimizer's update. Runs
/// nothing.
TrainStep trace_train_step(const Model& model, const Task& task, const UpdatePlan& plan,
                           const BatchShape& batch, Accumulation accumulation = Accumulation::none);
/// Traces forward, backward, the all_reduce of the gradients and their sums.
AccumulationStep trace_accumulation_step(const Model& model, const Task& task,
                                         const UpdatePlan& plan, const BatchShape& batch);
/// Traces forward and the task's sums.
EvaluationStep trace_evaluation_step(const Model& model, const Task& task, const BatchShape& batch);

}    // namespace slipway
