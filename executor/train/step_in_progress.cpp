#include "executor/train/step_in_progress.h"

#include <algorithm>
#include <span>
#include <utility>

#include "executor/train/evaluate.h"

namespace slipway {

StepInProgress::StepInProgress(const Model& model, const UpdatePlan& plan, bool accumulates,
                               std::vector<std::string> sum_names, const DropoutSource& dropout)
    : statistic_count_(model.parameters.statistics().size()),
      clips_(plan.clips),
      sum_names_(std::move(sum_names)),
      dropout_(dropout) {
    const auto trained = plan.chosen(model.parameters.leaves(), true);
    parameter_count_ = trained.size();
    if (!accumulates) return;
    for (const Tensor& parameter : trained)
        gradient_sums_.emplace_back(parameter.shape());
}

std::vector<Value> StepInProgress::leaves(const TrainState& state, const Hyper& hyper,
                                          const LoadedBatch& batch) const {
    const std::span<const Array> values(state.values);
    const auto statistics =
        statistics_.empty() ? values.last(statistic_count_) : std::span<const Array>(statistics_);
    std::vector<Value> leaves;
    leaves.reserve(values.size() + gradient_sums_.size() + state.frozen.size() + 7);
    const auto append = [&leaves](std::span<const Array> arrays) {
        for (const Array& array : arrays)
            leaves.push_back({{array}});
    };
    append(values.first(batch.ends_step ? values.size() - statistic_count_ : parameter_count_));
    append(statistics);
    append(gradient_sums_);
    append(state.frozen);
    leaves.push_back({{hyper_values(hyper)}});
    append_dropout(leaves, dropout_, state.step, batch);
    append_batch(leaves, batch);
    return leaves;
}

void StepInProgress::take(const std::vector<Value>& outputs, const LoadedBatch& batch,
                          TrainState& state) {
    auto output = outputs.begin();
    const auto keep = [&output](std::vector<Array>& arrays) {
        for (Array& array : arrays)
            array = (output++)->arrays[0];
    };
    if (batch.ends_step) {
        keep(state.values);
    } else {
        keep(gradient_sums_);
        statistics_.resize(statistic_count_);
        keep(statistics_);
    }
    if (batch.ends_step && clips_) gradient_norm_ = double(scalar_of(*output++));
    sums_.add(sum_names_, {output, outputs.end()});
}

MetricSums StepInProgress::finish() {
    for (Array& sum : gradient_sums_)
        std::ranges::fill(sum.as<float>(), 0.0F);
    statistics_.clear();
    return std::exchange(sums_, {});
}

}    // namespace slipway
