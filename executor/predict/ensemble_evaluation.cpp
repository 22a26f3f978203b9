#include "executor/predict/ensemble_evaluation.h"

#include <utility>

#include "executor/predict/forward_run.h"
#include "executor/train/evaluate.h"
#include "executor/train/run_options.h"

// The metrics of a task are sums of a traced graph that begins with a network. Of an ensemble the
// graph begins with a network without parameters, whose samples are what the real networks say
// together; so each metric of each task is calculated by the same code as of one network, and none
// is written a second time for means.
namespace slipway {

namespace {

constexpr const char* memory_advice =
    "; raise accelerator.memory_bytes: the batch is that of the first checkpoint's training";

EnsembleNetworks::Wanted wanted_outputs(const TrainData& data, const SamplerOptions& batches) {
    return {.trace = [](const Model& model, const BatchInputs& batch,
                        ForwardPass& pass) { return model.forward(batch.features, pass); },
            .batch = {batches.batch_size_per_core, data.evaluated().shape()},
            .program = "forward_step",
            .advice = memory_advice};
}

StepProgram compile_metrics(const EnsembleEvaluation::Parts& parts, const SamplerOptions& batches,
                            std::int64_t width) {
    Model outputs;
    outputs.forward = without_pass([](const Tensor& x) { return x; });
    const SampleShape sample{.features = Shape{DType::f32, {width}},
                             .labels = parts.data.evaluated().shape().labels};
    return compile_forward(
        parts.engine,
        trace_evaluation_step(outputs, parts.task, {batches.batch_size_per_core, sample}),
        "evaluation_step", memory_advice, parts.reporter);
}

}    // namespace

EnsembleEvaluation::EnsembleEvaluation(const Parts& parts, const SamplerOptions& batches)
    : parts_(parts),
      batches_(batches),
      views_(parts.plan, parts.data),
      networks_(parts.plan, parts.data, parts.engine, wanted_outputs(parts.data, batches),
                parts.reporter),
      metrics_(compile_metrics(parts, batches, networks_.width())) {}

/// The batch with what the networks say together in the place of the features.
LoadedBatch EnsembleEvaluation::combined(LoadedBatch batch, const std::vector<Value>& said) const {
    const auto size = std::size_t(batches_.batch_size_per_core);
    const auto width = std::size_t(networks_.width());
    std::vector<OutputRow> rows(said.size());
    for (std::size_t core = 0; core < batch.cores.size(); ++core) {
        Array together(Shape{DType::f32, {std::int64_t(size), std::int64_t(width)}});
        for (std::size_t place = 0; place < size; ++place) {
            for (std::size_t i = 0; i < said.size(); ++i)
                rows[i] = row_of(said[i], core, place, size);
            combine_logits(parts_.plan.spec.task.type, rows,
                           together.as<float>().subspan(place * width, width));
        }
        batch.cores[core].features = std::move(together);
    }
    return batch;
}

MetricSums EnsembleEvaluation::measure(
    const std::function<bool(std::int64_t sample_count)>& goes_on) {
    const std::vector<std::int64_t>& chosen = parts_.data.split.val;
    EnsembleLoader loader(views_,
                          evaluation_sampler(chosen, batches_.batch_size_per_core, batches_.cores),
                          loader_options(parts_.plan, parts_.data));
    const StepBindings& bindings = metrics_.bindings;
    MetricSums sums;
    std::int64_t sample_count = 0;
    while (auto views = loader.next()) {
        const std::vector<Value> said = networks_.run(views_, *views);
        const LoadedBatch batch = combined(std::move(views->front()), said);
        StepValues values(bindings.inputs);
        set_network(values, {});
        set_batch(values, batch);
        const std::vector<Value> outputs =
            parts_.engine.run(*metrics_.executable, std::move(values).take());
        const std::span<const Value> given(outputs);
        sums.add(bindings.sum_names, bindings.outputs.of(given, StepOutput::sums));
        sums.append(bindings.row_names, bindings.outputs.of(given, StepOutput::rows));
        sample_count += batch.sample_count;
        if (!goes_on(batch.sample_count)) return sums;
    }
    if (sample_count != std::int64_t(chosen.size()))
        throw Error(ErrorCode::internal, "an evaluation did not count every sample once");
    return sums;
}

}    // namespace slipway
