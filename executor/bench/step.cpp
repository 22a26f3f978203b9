#include "executor/bench/step.h"

#include <fmt/format.h>

#include "api/base/error.h"
#include "executor/autodiff/gradients.h"
#include "executor/optim/update_plan.h"

namespace slipway {

namespace {

// torch.optim.AdamW's, but for the rate and the momentum of SGD: small enough for every network.
constexpr Hyper hyper_numbers{
    .lr = 1e-4, .momentum = 0.9, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};

void require_shares(std::int64_t batch, int cores) {
    if (batch > 0 && batch % cores == 0) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a batch of {} cannot be split between {} threads; use a multiple",
                            batch, cores));
}

ForwardPass training_pass(const BenchModel& model, const HyperInput& hyper) {
    ForwardPass pass{.training = true, .core_share = hyper.scalar(HyperSlot::inverse_core_count)};
    if (model.dropout_rate > 0) {
        pass.dropout = {
            .rate = input({DType::f32, {}}, Placement::replicated, "dropout_rate"),
            .key = input({DType::u32, {2}}, Placement::replicated, "dropout_key"),
            .first_sample = input({DType::i32, {}}, Placement::per_core, "first_sample")};
    }
    return pass;
}

void append(std::vector<Tensor>& to, const std::vector<Tensor>& more) {
    to.insert(to.end(), more.begin(), more.end());
}

Array scalar(double value) {
    return filled({}, value);
}

}    // namespace

BenchModel make_bench_model(const Workload& workload, bool one_core) {
    BenchModel model;
    Init init(1);
    const bool is_other = one_core && workload.create_for_one_core != nullptr;
    model.forward =
        (is_other ? workload.create_for_one_core : workload.create)(model.parameters, init);
    model.dropout_rate = workload.dropout_rate;
    return model;
}

BenchStep trace_bench_step(const BenchModel& model, std::int64_t batch, int cores,
                           std::string_view optimizer, std::optional<DType> exchange) {
    require_shares(batch, cores);
    const std::vector<Tensor> parameters = model.parameters.inputs();
    const HyperInput hyper;
    BenchInputs inputs(batch, cores);
    ForwardPass pass = training_pass(model, hyper);
    const BenchLoss sums = model.forward(inputs, pass);
    const Tensor loss = sums.sum * constant(1.0 / sums.count);
    UpdatePlan plan(find_optimizer(optimizer));
    plan.exchange = exchange;
    const OptimizerStep update =
        trace_optimizer(plan, hyper, parameters, gradients(loss, parameters));

    BenchStep step{.graph = {.inputs = update.inputs, .outputs = update.outputs, .donations = {}},
                   .inputs = inputs.all(),
                   .hyper = hyper.input(),
                   .dropout = pass.dropout,
                   .cores = cores};
    for (std::size_t i = parameters.size(); i < update.inputs.size(); ++i)
        step.update.state.push_back(i);
    for (const Parameter& statistic : model.parameters.statistics())
        step.graph.inputs.push_back(statistic.input);
    append(step.graph.outputs, new_statistics(model.parameters, pass));
    step.state_count = step.graph.outputs.size();
    for (std::size_t i = 0; i < step.state_count; ++i)
        step.graph.donations.push_back({.output = i, .input = i});
    step.graph.inputs.push_back(step.hyper);
    if (!step.dropout.rate.empty()) {
        append(step.graph.inputs, {step.dropout.rate, step.dropout.key, step.dropout.first_sample});
    }
    for (const BenchInput& input : step.inputs)
        step.graph.inputs.push_back(input.input);
    step.graph.outputs.push_back(all_reduce(loss));
    return step;
}

std::vector<Value> bench_values(const BenchModel& model, const BenchStep& step) {
    std::vector<Value> values;
    for (const Parameter& parameter : model.parameters.all())
        values.push_back({{parameter.value.clone()}});
    const std::size_t statistics = model.parameters.statistics().size();
    while (values.size() < step.state_count - statistics)
        values.push_back({{Array(step.graph.inputs[values.size()].shape())}});
    for (const Parameter& statistic : model.parameters.statistics())
        values.push_back({{statistic.value.clone()}});
    Hyper numbers = hyper_numbers;
    numbers.core_count = step.cores;
    values.push_back({{hyper_values(numbers)}});
    if (!step.dropout.rate.empty()) {
        values.push_back({{scalar(model.dropout_rate)}});
        values.push_back({{array_of<std::uint32_t>({2}, std::array<std::uint32_t, 2>{1, 0})}});
        Value& first = values.emplace_back();
        const std::int64_t samples = step.inputs.front().input.dims()[0];
        for (int core = 0; core < step.cores; ++core)
            first.arrays.push_back(
                array_of<std::int32_t>({}, std::array{std::int32_t(core * samples)}));
    }
    for (const BenchInput& input : step.inputs) {
        Value& value = values.emplace_back();
        const Array whole = input.values();
        for (int core = 0; core < step.cores; ++core)
            value.arrays.push_back(part_of(whole, core, step.cores));
    }
    return values;
}

}    // namespace slipway
