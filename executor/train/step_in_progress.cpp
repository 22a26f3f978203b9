#include "executor/train/step_in_progress.h"

#include <algorithm>
#include <span>
#include <utility>

#include "executor/train/evaluate.h"

namespace slipway {

StepInProgress::StepInProgress(const Model& model, bool accumulates)
    : parameter_count_(model.parameters.all().size()) {
    if (!accumulates) return;
    for (const Parameter& parameter : model.parameters.all())
        gradient_sums_.emplace_back(parameter.leaf.shape());
}

std::vector<Value> StepInProgress::leaves(const TrainState& state, const Hyper& hyper,
                                          const LoadedBatch& batch) const {
    const std::span<const Array> values(state.values);
    std::vector<Value> leaves;
    leaves.reserve(values.size() + gradient_sums_.size() + 4);
    for (const Array& value : batch.ends_step ? values : values.first(parameter_count_))
        leaves.push_back({{value}});
    for (const Array& sum : gradient_sums_)
        leaves.push_back({{sum}});
    leaves.push_back({{hyper_values(hyper)}});
    append_batch(leaves, batch);
    return leaves;
}

void StepInProgress::take(const std::vector<Value>& outputs, const LoadedBatch& batch,
                          TrainState& state) {
    std::vector<Array>& donated = batch.ends_step ? state.values : gradient_sums_;
    for (std::size_t i = 0; i < donated.size(); ++i)
        donated[i] = outputs[i].arrays[0];
    loss_sum_ += double(scalar_of(outputs[donated.size()]));
    correct_sum_ += double(scalar_of(outputs[donated.size() + 1]));
}

StepMeans StepInProgress::finish(std::int64_t sample_count) {
    for (Array& sum : gradient_sums_)
        std::ranges::fill(sum.as<float>(), 0.0F);
    return {.loss = std::exchange(loss_sum_, 0),
            .accuracy = std::exchange(correct_sum_, 0) / double(sample_count)};
}

}    // namespace slipway
