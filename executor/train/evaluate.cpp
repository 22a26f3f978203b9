#include "executor/train/evaluate.h"

#include <utility>

#include "api/base/error.h"
#include "executor/train/attempt_members.h"

namespace slipway {

void set_batch(StepValues& values, const LoadedBatch& batch) {
    Value features, labels, weights;
    for (const Batch& core : batch.cores) {
        features.arrays.push_back(core.features);
        labels.arrays.push_back(core.labels);
        weights.arrays.push_back(core.weights);
    }
    values.set(StepInput::features, std::move(features));
    values.set(StepInput::labels, std::move(labels));
    values.set(StepInput::weights, std::move(weights));
}

void set_network(StepValues& values, std::span<const Array> network) {
    const std::size_t parameters = values.count(StepInput::parameters);
    check(parameters <= network.size(), "a network has its parameters");
    values.set(StepInput::parameters, network.first(parameters));
    values.set(StepInput::statistics, network.subspan(parameters));
}

float scalar_of(const Value& value) {
    check(value.arrays.size() == 1 && value.arrays[0].element_count() == 1,
          "a replicated scalar is one number");
    return value.arrays[0].as<float>()[0];
}

MetricSums evaluate(Engine& engine, const StepProgram& program, std::span<const Array> network,
                    const EvaluationRequest& request) {
    Loader loader(request.samples,
                  evaluation_sampler(request.chosen, request.batch_size_per_core, request.cores),
                  request.loader);
    const StepBindings& bindings = program.bindings;
    MetricSums sums;
    std::int64_t sample_count = 0;
    while (const auto batch = loader.next()) {
        StepValues values(bindings.inputs);
        set_network(values, network);
        set_batch(values, *batch);
        const std::vector<Value> outputs =
            engine.run(*program.executable, std::move(values).take());
        const std::span<const Value> given(outputs);
        sums.add(bindings.sum_names, bindings.outputs.of(given, StepOutput::sums));
        const std::span<const Value> rows = bindings.outputs.of(given, StepOutput::rows);
        if (request.members == nullptr || rows.empty())
            sums.append(bindings.row_names, rows);
        else
            sums.append(bindings.row_names, request.members->rows_of_all(rows));
        sample_count += batch->sample_count;
        if (request.goes_on && !request.goes_on(batch->sample_count)) return sums;
    }
    if (sample_count != std::int64_t(request.chosen.size())) {
        throw Error(ErrorCode::internal, "evaluation did not count every sample once");
    }
    return sums;
}

}    // namespace slipway
