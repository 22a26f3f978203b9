#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

namespace {

template <class Function>
BuiltLayer elementwise(const LayerRequest& request, Function function) {
    return {forward_of(std::move(function)), request.input()};
}

}    // namespace

BuiltLayer build_relu(const LayerRequest& request) {
    return elementwise(request, [](const Tensor& x) { return relu(x); });
}

BuiltLayer build_gelu(const LayerRequest& request) {
    const bool by_tanh = request.spec.approximate == GeluApproximation::tanh;
    return elementwise(request, [by_tanh](const Tensor& x) { return gelu(x, by_tanh); });
}

BuiltLayer build_tanh(const LayerRequest& request) {
    return elementwise(request, [](const Tensor& x) { return tanh(x); });
}

BuiltLayer build_sigmoid(const LayerRequest& request) {
    return elementwise(request, [](const Tensor& x) { return logistic(x); });
}

BuiltLayer build_softmax(const LayerRequest& request) {
    return elementwise(request, [](const Tensor& x) { return softmax(x); });
}

BuiltLayer build_dropout(const LayerRequest& request) {
    const double rate = request.spec.rate;
    if (rate == 0) return elementwise(request, [](const Tensor& x) { return x; });
    // The input has the highest rate of the network: the others are shares of it.
    const double share = rate / request.maker.highest_dropout;
    return {[share](std::span<const Tensor> inputs, ForwardPass& pass) {
                const DropoutInputs& dropout_inputs = pass.dropout;
                if (dropout_inputs.rate.empty()) return inputs[0];
                const Tensor own =
                    share == 1 ? dropout_inputs.rate : dropout_inputs.rate * constant(share);
                return dropout(inputs[0], own, dropout_inputs.key, pass.dropout_count++,
                               dropout_inputs.first_sample);
            },
            request.input()};
}

}    // namespace slipway::layer_list
