#pragma once

#include <span>
#include <vector>

#include "executor/data/loader.h"
#include "executor/engine/engine.h"
#include "executor/train/step.h"

namespace slipway {

/// Means over every sample given, each counted once whatever the number of cores.
struct Evaluation {
    double loss = 0;
    double accuracy = 0;
    std::int64_t sample_count = 0;
};

struct EvaluationRequest {
    const Dataset& dataset;
    const std::vector<std::int64_t>& samples;    ///< at least one
    std::int64_t batch_size_per_core = 1;
    std::int64_t cores = 1;
};

/// Runs `executable` (of trace_evaluation_step) over the samples; the last batch is padded with
/// weight 0. Sums are f32 per batch and double over batches.
/// `network` is parameters…, statistics….
Evaluation evaluate(Engine& engine, const Executable& executable, std::span<const Array> network,
                    const EvaluationRequest& request);

/// The leaves of one step that carry samples: features, labels, weights, one array per core.
void append_batch(std::vector<Value>& leaves, const LoadedBatch& batch);

/// The single number a replicated scalar output holds.
float scalar_of(const Value& value);

}    // namespace slipway
