#include "executor/bench/workloads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/base/error.h"
#include "executor/nn/loss.h"
#include "executor/nn/models/bert.h"
#include "executor/nn/models/cnn.h"
#include "executor/nn/models/gpt2.h"
#include "executor/nn/models/mixer.h"
#include "executor/nn/models/mlp.h"
#include "executor/nn/models/resnet.h"

namespace slipway {

namespace {

constexpr std::int64_t classes = 10;

BenchLoss classification_loss(const Tensor& logits, BenchInputs& inputs) {
    const Tensor labels = inputs.integers("labels", {}, 0, classes);
    return {.sum = cross_entropy_sum(logits, labels), .count = double(inputs.batch())};
}

BenchForward mlp(ParameterList& parameters, Init& init) {
    return [model = Mlp::create(parameters, init, 784, {512, 256}, classes)](BenchInputs& inputs,
                                                                             ForwardPass&) {
        return classification_loss(model(inputs.normal("features", {784})), inputs);
    };
}

BenchForward cnn(ParameterList& parameters, Init& init) {
    const Cnn::Options options{.channels = 1, .height = 28, .width = 28, .classes = classes};
    return [model = Cnn::create(parameters, init, options)](BenchInputs& inputs, ForwardPass&) {
        return classification_loss(model(inputs.normal("images", {1, 28, 28})), inputs);
    };
}

/// Ten yes-or-no labels for each image.
template <bool one_core>
BenchForward resnet34(ParameterList& parameters, Init& init) {
    const ResNet::Options options{
        .blocks = {3, 4, 6, 3}, .classes = classes, .sync_norms = one_core};
    return [model = ResNet::create(parameters, init, options)](BenchInputs& inputs,
                                                               ForwardPass& pass) {
        const Tensor logits = model(inputs.normal("images", {3, 128, 128}), pass);
        const Tensor targets = inputs.coins("targets", {classes});
        return BenchLoss{.sum = binary_cross_entropy_sum(logits, targets),
                         .count = double(inputs.batch() * classes)};
    };
}

template <bool one_core>
BenchForward resnet18(ParameterList& parameters, Init& init) {
    const ResNet::Options options{
        .blocks = {2, 2, 2, 2}, .classes = classes, .sync_norms = one_core};
    return [model = ResNet::create(parameters, init, options)](BenchInputs& inputs,
                                                               ForwardPass& pass) {
        return classification_loss(model(inputs.normal("images", {3, 64, 64}), pass), inputs);
    };
}

BenchForward mixer(ParameterList& parameters, Init& init) {
    const Mixer::Options options{.image_size = 128,
                                 .patch_size = 16,
                                 .layers = 8,
                                 .hidden = 512,
                                 .token_width = 256,
                                 .channel_width = 2048,
                                 .classes = classes};
    return [model = Mixer::create(parameters, init, options)](BenchInputs& inputs, ForwardPass&) {
        return classification_loss(model(inputs.normal("images", {3, 128, 128})), inputs);
    };
}

/// 15 % of 128 tokens, rounded up to the 20 of the published BERT.
constexpr std::int64_t bert_sequence = 128, bert_predictions = 20;

template <Bert::Options (*options)()>
BenchForward bert(ParameterList& parameters, Init& init) {
    return [model = Bert::create(parameters, init, options())](BenchInputs& inputs,
                                                               ForwardPass& pass) {
        const std::int64_t vocabulary = model.word_embeddings.weight.dims()[0];
        // Token 0 is padding: none here.
        const Tensor tokens = inputs.integers("tokens", {bert_sequence}, 1, vocabulary);
        const Tensor positions = inputs.choices("positions", bert_predictions, bert_sequence);
        const Tensor labels = inputs.integers("labels", {bert_predictions}, 1, vocabulary);
        const Tensor logits = model.predict(model.encode(tokens, pass), positions);
        return BenchLoss{.sum = cross_entropy_sum(logits, labels),
                         .count = double(inputs.batch() * bert_predictions)};
    };
}

Bert::Options bert_small() {
    return {.layers = 4, .hidden = 256, .heads = 4, .vocabulary = 8192, .intermediate = 1024};
}

Bert::Options bert_base() {
    return {.layers = 12, .hidden = 768, .heads = 12, .vocabulary = 30522, .intermediate = 3072};
}

template <Gpt2::Options (*options)(), std::int64_t sequence>
BenchForward gpt2(ParameterList& parameters, Init& init) {
    return [model = Gpt2::create(parameters, init, options())](BenchInputs& inputs,
                                                               ForwardPass& pass) {
        const std::int64_t vocabulary = model.wte.weight.dims()[0];
        const Tensor logits = model(inputs.integers("tokens", {sequence}, 0, vocabulary), pass);
        const Tensor labels = inputs.integers("labels", {sequence}, 0, vocabulary);
        return BenchLoss{.sum = cross_entropy_sum(logits, labels),
                         .count = double(inputs.batch() * sequence)};
    };
}

Gpt2::Options gpt_small() {
    return {.layers = 6, .hidden = 384, .heads = 6, .vocabulary = 256, .positions = 256};
}

Gpt2::Options gpt2_124m() {
    return {.layers = 12, .hidden = 768, .heads = 12, .vocabulary = 50257};
}

}    // namespace

std::span<const Workload> workloads() {
    static constexpr std::array rows{
        Workload{"mlp128", "784-512-256-10", 128, 0, mlp},
        Workload{"cnn128", "two convolutions and two linear layers on 28x28", 128, 0, cnn},
        Workload{"resnet34_32", "ResNet-34 on 128x128, ten yes-or-no labels", 32, 0,
                 resnet34<false>, resnet34<true>},
        Workload{"resnet18_64", "ResNet-18 on 64x64", 64, 0, resnet18<false>, resnet18<true>},
        Workload{"mixer_32", "MLP-Mixer, 8 layers of 512, patch 16, on 128x128", 32, 0, mixer},
        Workload{"bert_small", "BERT, 4 layers of 256, 128 tokens", 32, 0.1, bert<bert_small>},
        Workload{"bert_base", "BERT, 12 layers of 768, 128 tokens", 8, 0.1, bert<bert_base>},
        Workload{"gpt_small", "GPT-2, 6 layers of 384, 256 tokens", 16, 0, gpt2<gpt_small, 256>},
        Workload{"gpt2_124m", "GPT-2, 12 layers of 768, 64 tokens", 4, 0, gpt2<gpt2_124m, 64>},
    };
    return rows;
}

const Workload& find_workload(std::string_view name) {
    const auto rows = workloads();
    const auto row = std::ranges::find(rows, name, &Workload::name);
    if (row != rows.end()) return *row;
    std::vector<std::string_view> names;
    for (const Workload& workload : rows)
        names.push_back(workload.name);
    throw Error(ErrorCode::invalid_argument,
                fmt::format("there is no workload {}; there are {}", name, fmt::join(names, ", ")));
}

}    // namespace slipway
