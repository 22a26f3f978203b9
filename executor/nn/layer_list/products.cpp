#include <fmt/format.h>

#include "executor/nn/convolution.h"
#include "executor/nn/layer_list/builders.h"
#include "executor/nn/linear.h"

namespace slipway::layer_list {

BuiltLayer build_linear(const LayerRequest& request) {
    Maker& maker = request.maker;
    Dims dims = request.input();
    const std::int64_t in = dims.back();
    const std::int64_t out = request.spec.out_features.value_or(maker.outputs);
    require_trainable(request, {out, in});
    Array weight = maker.init.fan_in_uniform({out, in}, in);
    Array bias = request.spec.bias ? maker.init.fan_in_uniform({out}, in) : Array();
    dims.back() = out;
    return {forward_of(
                Linear::create(maker.parameters, request.name, std::move(weight), std::move(bias))),
            std::move(dims)};
}

namespace {

std::int64_t windows(const LayerSpec& spec, std::int64_t extent) {
    return (extent + 2 * spec.padding - spec.kernel_size) / spec.stride.value_or(1) + 1;
}

}    // namespace

BuiltLayer build_conv2d(const LayerRequest& request) {
    const LayerSpec& spec = request.spec;
    const ImageShape image = image_of(request);
    if (image.channels % spec.groups != 0)
        refuse(request, fmt::format("a number of channels that its {} groups divide", spec.groups));
    if (std::min(image.height, image.width) + 2 * spec.padding < spec.kernel_size) {
        refuse(request,
               fmt::format("an image of at least {0} x {0} pixels (kernel_size {1}, padding {2})",
                           spec.kernel_size - 2 * spec.padding, spec.kernel_size, spec.padding));
    }
    const Convolution::Options options{.in_channels = image.channels,
                                       .out_channels = spec.out_channels,
                                       .size = spec.kernel_size,
                                       .stride = spec.stride.value_or(1),
                                       .padding = spec.padding,
                                       .groups = spec.groups};
    require_trainable(request, options.weight_dims());
    Maker& maker = request.maker;
    Array weight = maker.init.fan_in_uniform(options.weight_dims(), options.fan_in());
    Array bias =
        spec.bias ? maker.init.fan_in_uniform({spec.out_channels}, options.fan_in()) : Array();
    return {forward_of(Convolution::create(maker.parameters, request.name, options,
                                           std::move(weight), std::move(bias))),
            {spec.out_channels, windows(spec, image.height), windows(spec, image.width)}};
}

}    // namespace slipway::layer_list
