#include "executor/train/step_in_progress.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "executor/train/evaluate.h"

namespace slipway {

StepInProgress::StepInProgress(const Model& model, const UpdatePlan& plan, StepBindings last,
                               std::optional<StepBindings> before, const DropoutSource& dropout)
    : last_(std::move(last)), before_(std::move(before)), dropout_(dropout) {
    if (!before_) return;
    for (const Tensor& parameter : plan.chosen(model.parameters.inputs(), true))
        gradient_sums_.emplace_back(parameter.shape());
}

std::vector<Value> StepInProgress::inputs(const TrainState& state, const Hyper& hyper,
                                          const LoadedBatch& batch) const {
    const auto part_of_state = [&](StepInput name) {
        return last_.inputs.of(std::span<const Array>(state.values), name);
    };
    StepValues values(bindings_of(batch).inputs);
    values.set(StepInput::parameters, part_of_state(StepInput::parameters));
    if (batch.ends_step)
        values.set(StepInput::optimizer_state, part_of_state(StepInput::optimizer_state));
    values.set(StepInput::statistics, statistics_.empty() ? part_of_state(StepInput::statistics)
                                                          : std::span<const Array>(statistics_));
    values.set(StepInput::gradient_sums, gradient_sums_);
    values.set(StepInput::frozen_parameters, state.frozen);
    values.set(StepInput::hyper, Value{{hyper_values(hyper)}});
    set_dropout(values, dropout_, state.step, batch);
    set_batch(values, batch);
    return std::move(values).take();
}

void StepInProgress::take(const std::vector<Value>& outputs, const LoadedBatch& batch,
                          TrainState& state) {
    const StepBindings& bindings = bindings_of(batch);
    const auto given = [&](StepOutput name) {
        return bindings.outputs.of(std::span<const Value>(outputs), name);
    };
    const auto keep = [&](StepOutput name, std::span<Array> arrays) {
        std::ranges::transform(given(name), arrays.begin(),
                               [](const Value& value) { return value.arrays[0]; });
    };
    if (batch.ends_step) {
        for (const StepOutput name :
             {StepOutput::parameters, StepOutput::optimizer_state, StepOutput::statistics})
            keep(name, bindings.outputs.of(std::span<Array>(state.values), name));
    } else {
        keep(StepOutput::gradient_sums, gradient_sums_);
        statistics_.resize(bindings.outputs.count(StepOutput::statistics));
        keep(StepOutput::statistics, statistics_);
    }
    for (const Value& norm : given(StepOutput::gradient_norm))
        gradient_norm_ = double(scalar_of(norm));
    sums_.add(bindings.sum_names, given(StepOutput::sums));
}

MetricSums StepInProgress::finish() {
    for (Array& sum : gradient_sums_)
        std::ranges::fill(sum.as<float>(), 0.0F);
    statistics_.clear();
    return std::exchange(sums_, {});
}

}    // namespace slipway
