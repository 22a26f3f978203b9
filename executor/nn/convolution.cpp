#include "executor/nn/convolution.h"

namespace slipway {

Convolution Convolution::create(ParameterList& parameters, Init& init, const std::string& name,
                                const Options& options) {
    Array weight = init.fan_in_uniform(options.weight_dims(), options.fan_in());
    Array bias = init.fan_in_uniform({options.out_channels}, options.fan_in());
    return create(parameters, name, options, std::move(weight), std::move(bias));
}

Convolution Convolution::create(ParameterList& parameters, const std::string& name,
                                const Options& options, Array weight, Array bias) {
    Convolution layer;
    layer.weight = parameters.add(name + ".weight", std::move(weight));
    if (!bias.empty()) layer.bias = parameters.add(name + ".bias", std::move(bias));
    layer.stride = options.stride;
    layer.padding = options.padding;
    return layer;
}

Tensor Convolution::operator()(const Tensor& x) const {
    const Tensor y = convolution_2d(x, weight, stride, padding);
    return bias.empty() ? y : y + broadcast_in_dim(bias, y.dims(), {1});
}

}    // namespace slipway
