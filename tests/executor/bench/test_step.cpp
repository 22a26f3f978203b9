#include "executor/bench/step.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

/// The loss of a step, by the naive evaluator.
double loss_of(const BenchModel& model, std::int64_t batch, int cores) {
    const BenchStep step = trace_bench_step(model, batch, cores);
    std::vector<ReferenceValue> values;
    for (const Value& value : bench_values(model, step))
        values.push_back(value.arrays);
    return double(evaluate(step.graph, values, cores).back()[0].as<float>()[0]);
}

TEST(BenchStep, the_loss_does_not_depend_on_the_number_of_cores) {
    const BenchModel model = make_bench_model(find_workload("mlp128"));
    const double alone = loss_of(model, 4, 1);
    EXPECT_GT(alone, 0);
    EXPECT_NEAR(loss_of(model, 4, 2), alone, 1e-6);
}

TEST(BenchStep, every_state_is_donated_and_every_input_is_bound) {
    for (const Workload& workload : workloads()) {
        BenchModel model;
        Init init = Init::zeros();
        model.forward = workload.create(model.parameters, init);
        model.dropout_rate = workload.dropout_rate;
        const BenchStep step = trace_bench_step(model, 2, 2);
        EXPECT_EQ(step.state_count,
                  3 * model.parameters.all().size() + model.parameters.statistics().size());
        EXPECT_EQ(step.graph.donations.size(), step.state_count) << workload.name;
        EXPECT_EQ(step.graph.outputs.size(), step.state_count + 1) << workload.name;
        const bool drops = !step.dropout.rate.empty();
        EXPECT_EQ(drops, workload.dropout_rate > 0) << workload.name;
        EXPECT_EQ(step.graph.inputs.size(),
                  step.state_count + 1 + (drops ? 3 : 0) + step.inputs.size());
    }
}

TEST(BenchStep, a_batch_that_cannot_be_shared_is_refused) {
    const BenchModel model = make_bench_model(find_workload("mlp128"));
    EXPECT_THROW(trace_bench_step(model, 3, 2), Error);
}

}    // namespace
}    // namespace slipway
