#include "executor/train/evaluate.h"

#include "api/base/error.h"

namespace slipway {

void append_batch(std::vector<Value>& leaves, const LoadedBatch& batch) {
    Value features, labels, weights;
    for (const Batch& core : batch.cores) {
        features.arrays.push_back(core.features);
        labels.arrays.push_back(core.labels);
        weights.arrays.push_back(core.weights);
    }
    leaves.push_back(std::move(features));
    leaves.push_back(std::move(labels));
    leaves.push_back(std::move(weights));
}

float scalar_of(const Value& value) {
    check(value.arrays.size() == 1 && value.arrays[0].element_count() == 1,
          "a replicated scalar is one number");
    return value.arrays[0].as<float>()[0];
}

MetricSums evaluate(Engine& engine, const Executable& executable, std::span<const Array> network,
                    const EvaluationRequest& request) {
    Loader loader(request.samples,
                  evaluation_sampler(request.chosen, request.batch_size_per_core, request.cores),
                  request.loader);
    MetricSums sums;
    std::int64_t sample_count = 0;
    while (const auto batch = loader.next()) {
        std::vector<Value> leaves;
        for (const Array& value : network)
            leaves.push_back({{value}});
        append_batch(leaves, *batch);
        const std::vector<Value> outputs = engine.run(executable, leaves);
        const auto split = request.sum_names.size();
        sums.add(request.sum_names, std::span(outputs).first(split));
        sums.append(request.row_names, std::span(outputs).subspan(split));
        sample_count += batch->sample_count;
    }
    if (sample_count != std::int64_t(request.chosen.size())) {
        throw Error(ErrorCode::internal, "evaluation did not count every sample once");
    }
    return sums;
}

}    // namespace slipway
