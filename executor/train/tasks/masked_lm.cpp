#include "executor/train/tasks/masked_lm.h"

#include "executor/train/tasks/token_metrics.h"

namespace slipway {

namespace {

/// Row `index` of each sample's labels: [n, 2, count] -> [n, count].
Tensor row_of_labels(const Tensor& labels, std::int64_t index) {
    const std::int64_t n = labels.dims()[0], count = labels.dims()[2];
    const Tensor row = slice(labels, {0, index, 0}, {n, index + 1, count}, {1, 1, 1});
    return reshape(row, {n, count});
}

}    // namespace

Task masked_lm(const JobSpec& spec) {
    const TokenMetrics metrics(spec);
    return {.trace =
                [metrics](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                    pass.positions = row_of_labels(batch.labels, 0);
                    const Tensor logits = model.forward(batch.features, pass);
                    const Tensor tokens = row_of_labels(batch.labels, 1);
                    return metrics.named(token_sums(logits, tokens, batch.weights));
                },
            .values = [metrics](const MetricSums& sums) { return metrics.values(sums); }};
}

}    // namespace slipway
