#include "executor/optim/optimizer.h"

#include <gtest/gtest.h>

#include "api/base/error.h"

#include <cmath>

#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

/// The value of a one-element parameter after each of three updates by a constant gradient.
std::vector<float> three_updates(const Optimizer& optimizer, Hyper hyper, float start,
                                 float slope) {
    const HyperInput hyper_input;
    const Shape shape{DType::f32, {1}};
    const Tensor parameter = input(shape, Placement::replicated, "parameter");
    const Tensor gradient = input(shape, Placement::replicated, "gradient");
    std::vector<Tensor> state;
    for (const auto name : optimizer.state) {
        state.push_back(input(shape, Placement::replicated, std::string(name)));
    }
    const Update update = optimizer.update({hyper_input, {}}, parameter, gradient, state);
    Graph graph{.inputs = {hyper_input.input(), gradient, parameter},
                .outputs = {update.parameter},
                .donations = {}};
    graph.inputs.insert(graph.inputs.end(), state.begin(), state.end());
    graph.outputs.insert(graph.outputs.end(), update.state.begin(), update.state.end());

    std::vector<ReferenceValue> values{
        {}, {array_of<float>({1}, std::array{slope})}, {array_of<float>({1}, std::array{start})}};
    for (std::size_t i = 0; i < state.size(); ++i)
        values.push_back({Array(shape)});
    std::vector<float> path;
    for (hyper.step = 1; hyper.step <= 3; ++hyper.step) {
        values[0] = {hyper_values(hyper)};
        const auto outputs = evaluate(graph, values, 1);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            values[2 + i] = outputs[i];
        path.push_back(values[2][0].as<float>()[0]);
    }
    return path;
}

// Expected paths: torch 1.13.1, torch.optim.SGD / Adam / AdamW on one float32 parameter of 1.0 with
// gradient 0.5.
struct Case {
    const char* name;
    Hyper hyper;
    std::vector<float> path;
};

TEST(Optimizer, updates_are_torchs) {
    const std::vector<Case> cases{
        {"sgd", {.lr = 0.1}, {0.95F, 0.9F, 0.85F}},
        {"sgd", {.lr = 0.1, .weight_decay = 0.1}, {0.94F, 0.8806F, 0.821794F}},
        {"sgd_momentum", {.lr = 0.1, .momentum = 0.9}, {0.95F, 0.855F, 0.7195F}},
        {"sgd_nesterov", {.lr = 0.1, .momentum = 0.9}, {0.905F, 0.7695F, 0.59755F}},
        {"adam", {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8}, {0.9F, 0.8F, 0.7F}},
        {"adamw",
         {.lr = 0.1, .weight_decay = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
         {0.89F, 0.7811F, 0.673289F}},
    };
    for (const Case& one : cases) {
        const auto path = three_updates(find_optimizer(one.name), one.hyper, 1.0F, 0.5F);
        for (std::size_t i = 0; i < 3; ++i) {
            // 1e-6: a dozen float32 roundings of numbers near 1.
            EXPECT_NEAR(path[i], one.path[i], 1e-6) << one.name << " update " << i + 1;
        }
    }
}

TEST(Optimizer, an_unknown_name_is_refused) {
    EXPECT_THROW(find_optimizer("sgdd"), Error);
}

}    // namespace
}    // namespace slipway
