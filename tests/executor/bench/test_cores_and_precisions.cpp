#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "executor/autodiff/gradients.h"
#include "executor/bench/inputs.h"
#include "executor/engine/engine.h"
#include "executor/nn/loss.h"
#include "executor/nn/models/bert.h"
#include "executor/nn/models/gpt2.h"
#include "executor/nn/models/mixer.h"
#include "executor/nn/models/resnet.h"

// Goal: a network's gradients do not depend on what kernels the library offers for one core's part
// of the batch, nor, but for rounding, on the precision.
// Method: networks just wide enough, and batches just large enough, for the kernels of real ones:
// weights that are packed, square ones among them, convolutions by minimal filtering and by
// patches. One core takes other kernels than two, and bf16 others than f32; their gradients are
// compared. Networks of a few channels, as the naive evaluator can run, reach none of these.

namespace slipway {
namespace {

/// The sum of the loss over one core's part of the batch.
using Forward = std::function<Tensor(BenchInputs& inputs, ForwardPass& pass)>;

struct NetworkCase {
    const char* name;
    std::int64_t batch;
    Forward (*create)(ParameterList& parameters, Init& init);
    /// What a tensor's gradient in bf16 may be off, over its length: a few hundredths found in
    /// transformers, more below the batch norms of untrained residual networks, which multiply
    /// roundings. A wrong matrix anywhere gives 1 and more.
    double bf16_distance_max;
};

Tensor classify(const Tensor& logits, BenchInputs& inputs) {
    return cross_entropy_sum(logits, inputs.integers("labels", {}, 0, logits.dims()[1]));
}

Forward make_bert(ParameterList& parameters, Init& init) {
    const Bert::Options options{
        .layers = 1, .hidden = 64, .heads = 2, .vocabulary = 96, .intermediate = 128};
    return
        [model = Bert::create(parameters, init, options)](BenchInputs& inputs, ForwardPass& pass) {
            const Tensor tokens = inputs.integers("tokens", {64}, 1, 96);
            const Tensor logits =
                model.predict(model.encode(tokens, pass), inputs.choices("at", 8, 64));
            return cross_entropy_sum(logits, inputs.integers("labels", {8}, 1, 96));
        };
}

Forward make_gpt2(ParameterList& parameters, Init& init) {
    const Gpt2::Options options{
        .layers = 1, .hidden = 64, .heads = 2, .vocabulary = 96, .positions = 64};
    return
        [model = Gpt2::create(parameters, init, options)](BenchInputs& inputs, ForwardPass& pass) {
            const Tensor logits = model(inputs.integers("tokens", {64}, 0, 96), pass);
            return cross_entropy_sum(logits, inputs.integers("labels", {64}, 0, 96));
        };
}

Forward make_mixer(ParameterList& parameters, Init& init) {
    const Mixer::Options options{.image_size = 32,
                                 .patch_size = 4,
                                 .layers = 1,
                                 .hidden = 64,
                                 .token_width = 64,
                                 .channel_width = 64};
    return [model = Mixer::create(parameters, init, options)](BenchInputs& inputs, ForwardPass&) {
        return classify(model(inputs.normal("images", {3, 32, 32})), inputs);
    };
}

/// Each block adds a tenth of what it learns, as far as batch norm is concerned: from 1 on, blocks
/// multiply what one core's filtered convolutions and two cores' direct ones differ by, 2e-5, to
/// 5e-3 (docs/torch.md).
void begin_with_small_residuals(ParameterList& parameters) {
    for (Parameter& parameter : parameters.all())
        if (parameter.name.ends_with("bn3.weight"))
            std::ranges::fill(parameter.value.as<float>(), 0.1F);
}

Forward make_bottlenecks(ParameterList& parameters, Init& init) {
    const ResNet::Options options{
        .blocks = {1, 1, 0, 0}, .bottleneck = true, .width = 32, .sync_norms = true};
    auto model = ResNet::create(parameters, init, options);
    begin_with_small_residuals(parameters);
    return [model = std::move(model)](BenchInputs& inputs, ForwardPass& pass) {
        return classify(model(inputs.normal("images", {3, 64, 64}), pass), inputs);
    };
}

const NetworkCase network_cases[] = {
    {"bert", 16, make_bert, 0.1},
    {"gpt2", 16, make_gpt2, 0.1},
    {"mixer", 16, make_mixer, 0.1},
    {"bottlenecks", 16, make_bottlenecks, 0.2},
};

struct NamedGradient {
    std::string name;
    Array value;
};

std::vector<NamedGradient> gradients_of(const NetworkCase& network, int cores,
                                        PrecisionPolicy precision) {
    ParameterList parameters;
    Init init(1);
    const Forward forward = network.create(parameters, init);
    BenchInputs inputs(network.batch, cores);
    ForwardPass pass{.training = true, .core_share = constant(1.0 / cores)};
    const Tensor loss = forward(inputs, pass) * constant(1.0 / double(network.batch));
    Graph graph{.inputs = parameters.inputs(),
                .outputs = gradients(loss, parameters.inputs()),
                .donations = {}};
    std::vector<Value> values;
    for (const Parameter& parameter : parameters.all())
        values.push_back({{parameter.value}});
    for (const Parameter& statistic : parameters.statistics()) {
        graph.inputs.push_back(statistic.input);
        values.push_back({{statistic.value}});
    }
    for (const BenchInput& input : inputs.all()) {
        graph.inputs.push_back(input.input);
        Value& value = values.emplace_back();
        for (int core = 0; core < cores; ++core)
            value.arrays.push_back(part_of(input.values(), core, cores));
    }
    for (Tensor& gradient : graph.outputs)
        gradient = all_reduce(gradient);
    Engine engine({.cores = cores, .precision = precision});
    const std::vector<Value> found = engine.run(*engine.compile(graph), values);
    std::vector<NamedGradient> named;
    for (std::size_t i = 0; i < found.size(); ++i)
        named.push_back({parameters.all()[i].name, found[i].arrays[0]});
    return named;
}

double length_of(const NamedGradient& gradient) {
    double sum = 0;
    for (const float x : gradient.value.as<float>())
        sum += double(x) * double(x);
    return std::sqrt(sum);
}

/// Each tensor's distance from `expected`, over its length. Tensors whose gradient is 0 but for
/// rounding, as of the keys' biases, which move no probability, are measured by the longest.
void expect_near(const std::vector<NamedGradient>& found,
                 const std::vector<NamedGradient>& expected, double distance_max) {
    double longest = 0;
    for (const NamedGradient& gradient : expected)
        longest = std::max(longest, length_of(gradient));
    for (std::size_t i = 0; i < expected.size(); ++i) {
        NamedGradient difference{expected[i].name, found[i].value.clone()};
        const auto numbers = difference.value.as<float>();
        for (std::size_t k = 0; k < numbers.size(); ++k)
            numbers[k] -= expected[i].value.as<float>()[k];
        const double scale = std::max(length_of(expected[i]), 1e-3 * longest);
        EXPECT_LE(length_of(difference), distance_max * scale) << expected[i].name;
    }
}

class Networks : public testing::TestWithParam<NetworkCase> {};

// f32: sums of thousands of terms in another order, each divided by a deviation: 1e-4.
TEST_P(Networks, have_the_same_gradients_on_one_core_and_on_two_in_f32_and_nearly_in_bf16) {
    const NetworkCase& network = GetParam();
    const auto expected = gradients_of(network, 1, PrecisionPolicy::f32);
    {
        SCOPED_TRACE("f32 on two cores");
        expect_near(gradients_of(network, 2, PrecisionPolicy::f32), expected, 1e-4);
    }
    {
        SCOPED_TRACE("bf16 on two cores");
        expect_near(gradients_of(network, 2, PrecisionPolicy::bf16), expected,
                    network.bf16_distance_max);
    }
}

INSTANTIATE_TEST_SUITE_P(Bench, Networks, testing::ValuesIn(network_cases),
                         [](const auto& row) { return std::string(row.param.name); });

}    // namespace
}    // namespace slipway
