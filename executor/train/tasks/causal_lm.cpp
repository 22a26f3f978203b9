#include "executor/train/tasks/causal_lm.h"

#include "executor/train/tasks/token_metrics.h"

namespace slipway {

Task causal_lm(const JobSpec& spec) {
    const TokenMetrics metrics(spec);
    return {.trace =
                [metrics](const Model& model, const BatchInputs& batch, ForwardPass& pass) {
                    const Tensor logits = model.forward(batch.features, pass);
                    return metrics.named(token_sums(logits, batch.labels, batch.weights));
                },
            .values = [metrics](const MetricSums& sums) { return metrics.values(sums); }};
}

}    // namespace slipway
