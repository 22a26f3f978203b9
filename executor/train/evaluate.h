#pragma once

#include <functional>
#include <span>
#include <vector>

#include "executor/data/loader.h"
#include "executor/engine/engine.h"
#include "executor/train/step.h"

namespace slipway {

class AttemptMembers;

struct EvaluationRequest {
    const Samples& samples;
    const std::vector<std::int64_t>& chosen;    ///< at least one
    std::int64_t batch_size_per_core = 1;
    std::int64_t cores = 1;
    LoaderOptions loader = {};
    /// Asked after each batch, with its samples; false ends the evaluation early. Empty: never.
    std::function<bool(std::int64_t sample_count)> goes_on = {};
    const AttemptMembers* members = nullptr;    ///< who compute the other cores; null: nobody
};

/// Runs `program` (of trace_evaluation_step) over the samples, each counted once whatever the
/// number of cores; the last batch is padded with weight 0. One that ended early has the sums of
/// the batches until then.
/// `network` is parameters…, statistics….
MetricSums evaluate(Engine& engine, const StepProgram& program, std::span<const Array> network,
                    const EvaluationRequest& request);

/// Sets the inputs of one step that carry samples: features, labels, weights, one array per core.
void set_batch(StepValues& values, const LoadedBatch& batch);
/// Sets the inputs of a network: its parameters, then its statistics.
void set_network(StepValues& values, std::span<const Array> network);

/// The single number a replicated scalar output holds.
float scalar_of(const Value& value);

}    // namespace slipway
