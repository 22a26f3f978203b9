#include "executor/nn/declared/builders.h"

namespace slipway::declared {

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

}    // namespace slipway::declared
