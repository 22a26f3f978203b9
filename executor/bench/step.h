#pragma once

#include "executor/bench/workloads.h"
#include "executor/engine/engine.h"

namespace slipway {

/// A workload's network with its initial values.
struct BenchModel {
    ParameterList parameters;
    BenchForward forward;
    double dropout_rate = 0;
};

/// one_core  as a job of one core has it: Workload::create_for_one_core
BenchModel make_bench_model(const Workload& workload, bool one_core = false);

/// One training step as a graph: forward, backward, the sum over the cores, the optimizer's update,
/// the new statistics.
///   inputs   parameters…, optimizer state…, statistics…, hyper, the dropout's, inputs…
///   outputs  parameters…, optimizer state…, statistics… (donated), loss (mean over the batch)
struct BenchStep {
    Graph graph;
    std::vector<BenchInput> inputs;
    std::size_t state_count = 0;    ///< of inputs that are donated
    ShardedUpdate update = {};      ///< the optimizer's state among them
    Tensor hyper;
    DropoutInputs dropout;
    int cores = 1;
};

/// `optimizer`: the name of a row of optimizers(). `exchange`: of gradients, as in UpdatePlan.
/// errors  invalid_argument when the batch cannot be shared by the cores or no optimizer has this
/// name
BenchStep trace_bench_step(const BenchModel& model, std::int64_t batch, int cores,
                           std::string_view optimizer = "adamw",
                           std::optional<DType> exchange = {});

/// What the inputs are bound to at the first step.
std::vector<Value> bench_values(const BenchModel& model, const BenchStep& step);

}    // namespace slipway
