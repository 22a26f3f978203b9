#include "executor/train/step.h"

#include <algorithm>
#include <span>
#include <utility>

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
    DropoutInputs dropout;
};

BatchResults batch_results(const Model& model, const Task& task, const HyperInput& hyper,
                           const BatchInputs& inputs, const std::vector<Tensor>& trained) {
    ForwardPass pass{.training = true,
                     .core_share = hyper.scalar(HyperSlot::inverse_core_count),
                     .dropout = dropout_inputs(model.dropout)};
    const std::vector<TaskSum> sums = task.trace(model, inputs, pass);
    check(std::ranges::none_of(sums, &TaskSum::rows), "only an evaluation keeps rows");
    const Tensor share = sums[0].value * hyper.scalar(HyperSlot::inverse_label_count);
    return {.sums = ReducedSums(sums),
            .gradients = gradients(share, trained),
            .statistics = new_statistics(model.parameters, pass),
            .dropout = pass.dropout};
}

/// One input per parameter, f32 and replicated: the gradients of a step's batches so far.
std::vector<Tensor> sum_inputs(const std::vector<Tensor>& parameters) {
    std::vector<Tensor> sums;
    for (const Tensor& parameter : parameters)
        sums.push_back(input(parameter.shape(), Placement::replicated, "gradient_sum"));
    return sums;
}

/// The sums with this batch's gradients.
std::vector<Tensor> added(const UpdatePlan& plan, const std::vector<Tensor>& sums,
                          const std::vector<Tensor>& gradients) {
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < sums.size(); ++i)
        results.push_back(sums[i] + sum_of_shares(gradients[i], plan.exchange));
    return results;
}

std::vector<Tensor> statistic_inputs(const Model& model) {
    std::vector<Tensor> inputs;
    for (const Parameter& statistic : model.parameters.statistics())
        inputs.push_back(statistic.input);
    return inputs;
}

/// A step while it is traced: what is added to its graph has a name from then on.
class StepTrace {
public:
    void read(StepInput name, std::span<const Tensor> inputs) {
        bindings_.inputs.add(name, inputs.size());
        graph_.inputs.insert(graph_.inputs.end(), inputs.begin(), inputs.end());
    }
    void read(StepInput name, const Tensor& input) { read(name, std::span(&input, 1)); }

    void give(StepOutput name, std::span<const Tensor> outputs) {
        bindings_.outputs.add(name, outputs.size());
        graph_.outputs.insert(graph_.outputs.end(), outputs.begin(), outputs.end());
    }

    /// Each output of a name takes over the memory of the input that it is the new value of.
    void donate(StepOutput output, StepInput input) {
        const std::size_t count = bindings_.outputs.count(output);
        check(count == bindings_.inputs.count(input), "each output has an input to take over");
        for (std::size_t i = 0; i < count; ++i)
            graph_.donations.push_back({.output = bindings_.outputs.first(output) + i,
                                        .input = bindings_.inputs.first(input) + i});
    }

    void read(const DropoutInputs& dropout) {
        if (dropout.rate.empty()) return;
        read(StepInput::dropout_rate, dropout.rate);
        read(StepInput::dropout_key, dropout.key);
        read(StepInput::first_sample, dropout.first_sample);
    }

    void read(const BatchInputs& batch) {
        read(StepInput::features, batch.features);
        read(StepInput::labels, batch.labels);
        read(StepInput::weights, batch.weights);
    }

    void give(const ReducedSums& sums) {
        give(StepOutput::sums, sums.values);
        bindings_.sum_names = sums.names;
        if (sums.rows.empty()) return;
        give(StepOutput::rows, sums.rows);
        bindings_.row_names = sums.row_names;
    }

    TracedStep take() && { return {std::move(graph_), std::move(bindings_)}; }

private:
    Graph graph_;
    StepBindings bindings_;
};

}    // namespace

TracedStep trace_train_step(const Model& model, const Task& task, const UpdatePlan& plan,
                            const BatchShape& batch, Accumulation accumulation) {
    const std::vector<Tensor> parameters = model.parameters.inputs();
    const std::vector<Tensor> trained = plan.chosen(parameters, true);
    const HyperInput hyper(plan.groups);
    const BatchInputs inputs(batch);
    const BatchResults results = batch_results(model, task, hyper, inputs, trained);
    std::vector<Tensor> sums;
    if (accumulation == Accumulation::finished) sums = sum_inputs(trained);

    const OptimizerStep updates =
        trace_optimizer(plan, hyper, parameters,
                        sums.empty() ? results.gradients : added(plan, sums, results.gradients));
    const std::span<const Tensor> old_values(updates.inputs), new_values(updates.outputs);

    StepTrace step;
    step.read(StepInput::parameters, old_values.first(trained.size()));
    step.read(StepInput::optimizer_state, old_values.subspan(trained.size()));
    step.read(StepInput::statistics, statistic_inputs(model));
    step.read(StepInput::gradient_sums, sums);
    step.read(StepInput::frozen_parameters, plan.chosen(parameters, false));
    step.read(StepInput::hyper, hyper.input());
    step.read(results.dropout);
    step.read(inputs);
    step.give(StepOutput::parameters, new_values.first(trained.size()));
    step.give(StepOutput::optimizer_state, new_values.subspan(trained.size()));
    step.give(StepOutput::statistics, results.statistics);
    if (plan.clips) step.give(StepOutput::gradient_norm, std::span(&updates.gradient_norm, 1));
    step.give(results.sums);
    step.donate(StepOutput::parameters, StepInput::parameters);
    step.donate(StepOutput::optimizer_state, StepInput::optimizer_state);
    step.donate(StepOutput::statistics, StepInput::statistics);
    return std::move(step).take();
}

TracedStep trace_accumulation_step(const Model& model, const Task& task, const UpdatePlan& plan,
                                   const BatchShape& batch) {
    const std::vector<Tensor> parameters = model.parameters.inputs();
    const std::vector<Tensor> trained = plan.chosen(parameters, true);
    const HyperInput hyper(plan.groups);
    const BatchInputs inputs(batch);
    const BatchResults results = batch_results(model, task, hyper, inputs, trained);
    const std::vector<Tensor> sums = sum_inputs(trained);

    StepTrace step;
    step.read(StepInput::parameters, trained);
    step.read(StepInput::statistics, statistic_inputs(model));
    step.read(StepInput::gradient_sums, sums);
    step.read(StepInput::frozen_parameters, plan.chosen(parameters, false));
    step.read(StepInput::hyper, hyper.input());
    step.read(results.dropout);
    step.read(inputs);
    step.give(StepOutput::gradient_sums, added(plan, sums, results.gradients));
    // Not donated: a step that is given up leaves the statistics as they were before it.
    step.give(StepOutput::statistics, results.statistics);
    step.give(results.sums);
    step.donate(StepOutput::gradient_sums, StepInput::gradient_sums);
    return std::move(step).take();
}

TracedStep trace_evaluation_step(const Model& model, const Task& task, const BatchShape& batch) {
    const BatchInputs inputs(batch);
    ForwardPass pass;
    const ReducedSums sums(task.trace(model, inputs, pass));
    StepTrace step;
    step.read(StepInput::parameters, model.parameters.inputs());
    step.read(StepInput::statistics, statistic_inputs(model));
    step.read(inputs);
    step.give(sums);
    return std::move(step).take();
}

}    // namespace slipway
