#include "executor/train/step.h"

#include <algorithm>

#include "executor/autodiff/gradients.h"
#include "executor/train/dropout.h"

namespace slipway {

namespace {

/// The sums over all cores, as outputs, and their names; the rows, which stay each core's own.
struct ReducedSums {
    std::vector<Tensor> values, rows;
    std::vector<std::string> names, row_names;

    explicit ReducedSums(const std::vector<TaskSum>& sums) {
        for (const TaskSum& sum : sums) {
            (sum.rows ? rows : values).push_back(sum.rows ? sum.value : all_reduce(sum.value));
            (sum.rows ? row_names : names).push_back(sum.name);
        }
    }
};

/// What a batch gives. Its loss is divided by the labels of the whole step, so that sums over the
/// cores and over the step's batches are the gradients of the mean.
struct BatchResults {
    ReducedSums sums;
    std::vector<Tensor> gradients;     ///< of the trained parameters, each core's share
    std::vector<Tensor> statistics;    ///< replicated
    std::vector<Tensor> dropout;       ///< leaves
};

BatchResults batch_results(const Model& model, const Task& task, const HyperLeaf& hyper,
                           const BatchLeaves& inputs, const std::vector<Tensor>& trained) {
    ForwardPass pass{.training = true,
                     .core_share = hyper.scalar(HyperSlot::inverse_core_count),
                     .dropout = dropout_leaves(model.dropout)};
    const std::vector<TaskSum> sums = task.trace(model, inputs, pass);
    check(std::ranges::none_of(sums, &TaskSum::rows), "only an evaluation keeps rows");
    const Tensor share = sums[0].value * hyper.scalar(HyperSlot::inverse_label_count);
    return {.sums = ReducedSums(sums),
            .gradients = gradients(share, trained),
            .statistics = new_statistics(model.parameters, pass),
            .dropout = in_order(pass.dropout)};
}

/// One leaf per parameter, f32 and replicated: the gradients of a step's batches so far.
std::vector<Tensor> sum_leaves(const std::vector<Tensor>& parameters) {
    std::vector<Tensor> sums;
    for (const Tensor& parameter : parameters)
        sums.push_back(leaf(parameter.shape(), Placement::replicated, "gradient_sum"));
    return sums;
}

/// The sums with this batch's gradients.
std::vector<Tensor> added(const std::vector<Tensor>& sums, const std::vector<Tensor>& gradients) {
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const bool is_share = gradients[i].node().placement == Placement::per_core;
        results.push_back(sums[i] + (is_share ? all_reduce(gradients[i]) : gradients[i]));
    }
    return results;
}

std::vector<Tensor> statistic_leaves(const Model& model) {
    std::vector<Tensor> leaves;
    for (const Parameter& statistic : model.parameters.statistics())
        leaves.push_back(statistic.leaf);
    return leaves;
}

void append(std::vector<Tensor>& to, const std::vector<Tensor>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

void donate_first(Graph& graph, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        graph.donations.push_back({.output = i, .leaf = i});
}

}    // namespace

TrainStep trace_train_step(const Model& model, const Task& task, const UpdatePlan& plan,
                           const BatchShape& batch, Accumulation accumulation) {
    const std::vector<Tensor> parameters = model.parameters.leaves();
    const std::vector<Tensor> trained = plan.chosen(parameters, true);
    const HyperLeaf hyper(plan.groups);
    const BatchLeaves inputs(batch);
    const BatchResults results = batch_results(model, task, hyper, inputs, trained);
    std::vector<Tensor> sums;
    if (accumulation == Accumulation::finished) sums = sum_leaves(trained);

    TrainStep step;
    step.parameter_count = trained.size();
    step.slot_count = trained.size() * plan.slots().size();
    OptimizerStep updates = trace_optimizer(
        plan, hyper, parameters, sums.empty() ? results.gradients : added(sums, results.gradients));
    step.graph = {std::move(updates.leaves), std::move(updates.outputs), {}};
    step.statistic_count = results.statistics.size();
    append(step.graph.leaves, statistic_leaves(model));
    append(step.graph.outputs, results.statistics);
    donate_first(step.graph, step.state_count());
    append(step.graph.leaves, sums);
    append(step.graph.leaves, plan.chosen(parameters, false));
    append(step.graph.leaves, {hyper.leaf()});
    append(step.graph.leaves, results.dropout);
    append(step.graph.leaves, inputs.all());
    if (plan.clips) step.graph.outputs.push_back(updates.gradient_norm);
    append(step.graph.outputs, results.sums.values);
    step.sum_names = results.sums.names;
    return step;
}

AccumulationStep trace_accumulation_step(const Model& model, const Task& task,
                                         const UpdatePlan& plan, const BatchShape& batch) {
    const std::vector<Tensor> parameters = model.parameters.leaves();
    const std::vector<Tensor> trained = plan.chosen(parameters, true);
    const HyperLeaf hyper(plan.groups);
    const BatchLeaves inputs(batch);
    const BatchResults results = batch_results(model, task, hyper, inputs, trained);
    const std::vector<Tensor> sums = sum_leaves(trained);

    AccumulationStep step;
    step.parameter_count = trained.size();
    step.graph = {trained, added(sums, results.gradients), {}};
    append(step.graph.leaves, statistic_leaves(model));
    const std::size_t first_sum = step.graph.leaves.size();
    append(step.graph.leaves, sums);
    append(step.graph.leaves, plan.chosen(parameters, false));
    append(step.graph.leaves, {hyper.leaf()});
    append(step.graph.leaves, results.dropout);
    append(step.graph.leaves, inputs.all());
    // Not donated: a step that is given up leaves the statistics as they were before it.
    append(step.graph.outputs, results.statistics);
    append(step.graph.outputs, results.sums.values);
    step.sum_names = results.sums.names;
    for (std::size_t i = 0; i < sums.size(); ++i)
        step.graph.donations.push_back({.output = i, .leaf = first_sum + i});
    return step;
}

EvaluationStep trace_evaluation_step(const Model& model, const Task& task,
                                     const BatchShape& batch) {
    const BatchLeaves inputs(batch);
    ForwardPass pass;
    const ReducedSums sums(task.trace(model, inputs, pass));
    EvaluationStep step;
    step.graph.leaves = model.parameters.leaves();
    step.parameter_count = step.graph.leaves.size();
    append(step.graph.leaves, statistic_leaves(model));
    append(step.graph.leaves, inputs.all());
    step.graph.outputs = sums.values;
    append(step.graph.outputs, sums.rows);
    step.sum_names = sums.names;
    step.row_names = sums.row_names;
    return step;
}

}    // namespace slipway
