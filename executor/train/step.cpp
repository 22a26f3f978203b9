#include "executor/train/step.h"

#include "executor/autodiff/gradients.h"
#include "executor/nn/loss.h"

namespace slipway {

namespace {

/// The leaves that each core fills with its own samples.
struct BatchLeaves {
    Tensor features, labels, weights;

    explicit BatchLeaves(const BatchShape& batch) {
        Dims dims = batch.sample_dims;
        dims.insert(dims.begin(), batch.batch_size_per_core);
        features = leaf({DType::f32, std::move(dims)}, Placement::per_core, "features");
        labels = leaf({DType::i32, {batch.batch_size_per_core}}, Placement::per_core, "labels");
        weights = leaf({DType::f32, {batch.batch_size_per_core}}, Placement::per_core, "weights");
    }
};

}    // namespace

TrainStep trace_train_step(const Model& model, const Optimizer& optimizer,
                           const BatchShape& batch) {
    const std::vector<Tensor> parameters = model.parameters.leaves();
    const HyperLeaf hyper;
    const BatchLeaves inputs(batch);

    // Each core divides by the count of the whole batch, so the sum over cores is the mean over it.
    const ClassificationSums sums =
        classification_sums(model.forward(inputs.features), inputs.labels, inputs.weights);
    const Tensor loss = sums.loss * hyper.scalar(HyperSlot::inverse_sample_count);
    const std::vector<Tensor> local = gradients(loss, parameters);

    TrainStep step;
    step.parameter_count = parameters.size();
    step.slot_count = parameters.size() * optimizer.slots.size();
    OptimizerStep updates = trace_optimizer(optimizer, hyper, parameters, local);
    step.graph.leaves = std::move(updates.leaves);
    step.graph.outputs = std::move(updates.outputs);
    for (std::size_t i = 0; i < step.state_count(); ++i) {
        step.graph.donations.push_back({.output = i, .leaf = i});
    }
    step.graph.leaves.insert(step.graph.leaves.end(),
                             {hyper.leaf(), inputs.features, inputs.labels, inputs.weights});
    step.graph.outputs.push_back(all_reduce(loss));
    step.graph.outputs.push_back(all_reduce(sums.correct));
    return step;
}

EvaluationStep trace_evaluation_step(const Model& model, const BatchShape& batch) {
    const BatchLeaves inputs(batch);
    const ClassificationSums sums =
        classification_sums(model.forward(inputs.features), inputs.labels, inputs.weights);
    EvaluationStep step;
    step.graph.leaves = model.parameters.leaves();
    step.parameter_count = step.graph.leaves.size();
    step.graph.leaves.insert(step.graph.leaves.end(),
                             {inputs.features, inputs.labels, inputs.weights});
    step.graph.outputs = {all_reduce(sums.loss), all_reduce(sums.correct)};
    return step;
}

}    // namespace slipway
