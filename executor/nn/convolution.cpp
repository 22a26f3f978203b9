#include "executor/nn/convolution.h"

namespace slipway {

Convolution Convolution::create(ParameterList& parameters, Init& init, const std::string& name,
                                const Options& options) {
    const std::int64_t fan_in = options.in_channels * options.size * options.size;
    Convolution layer;
    layer.weight = parameters.add(
        name + ".weight",
        init.fan_in_uniform({options.out_channels, options.in_channels, options.size, options.size},
                            fan_in));
    layer.bias =
        parameters.add(name + ".bias", init.fan_in_uniform({options.out_channels}, fan_in));
    layer.stride = options.stride;
    layer.padding = options.padding;
    return layer;
}

Tensor Convolution::operator()(const Tensor& x) const {
    const Tensor y = convolution_2d(x, weight, stride, padding);
    return y + broadcast_in_dim(bias, y.dims(), {1});
}

}    // namespace slipway
