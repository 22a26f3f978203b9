#include "executor/nn/linear.h"

namespace slipway {

Linear Linear::create(ParameterList& parameters, Init& init, const std::string& name,
                      std::int64_t in_features, std::int64_t out_features) {
    Array weight = init.fan_in_uniform({out_features, in_features}, in_features);
    Array bias = init.fan_in_uniform({out_features}, in_features);
    return create(parameters, name, std::move(weight), std::move(bias));
}

Linear Linear::create(ParameterList& parameters, const std::string& name, Array weight,
                      Array bias) {
    Linear layer;
    layer.weight = parameters.add(name + ".weight", std::move(weight));
    if (!bias.empty()) layer.bias = parameters.add(name + ".bias", std::move(bias));
    return layer;
}

Tensor Linear::operator()(const Tensor& x) const {
    return linear(x, weight, bias);
}

}    // namespace slipway
