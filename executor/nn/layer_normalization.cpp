#include "executor/nn/layer_normalization.h"

namespace slipway {

LayerNormalization LayerNormalization::create(ParameterList& parameters, const std::string& name,
                                              std::int64_t features, double epsilon) {
    LayerNormalization layer;
    layer.weight = parameters.add(name + ".weight", filled({features}, 1));
    layer.bias = parameters.add(name + ".bias", filled({features}, 0));
    layer.epsilon = epsilon;
    return layer;
}

Tensor LayerNormalization::operator()(const Tensor& x) const {
    return layer_norm(x, weight, bias, epsilon);
}

}    // namespace slipway
