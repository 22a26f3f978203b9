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
    layer.groups = options.groups;
    return layer;
}

Tensor Convolution::operator()(const Tensor& x) const {
    const WindowDimension side{.size = weight.dims()[2],
                               .stride = stride,
                               .padding_low = padding,
                               .padding_high = padding};
    const Tensor y = convolution(x, weight,
                                 {.window = {side, side},
                                  .input_layout = {},
                                  .kernel_layout = {},
                                  .output_layout = {},
                                  .feature_groups = groups});
    return bias.empty() ? y : y + broadcast_in_dim(bias, y.dims(), {1});
}

}    // namespace slipway
