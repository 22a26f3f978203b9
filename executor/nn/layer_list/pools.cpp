#include <fmt/format.h>

#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

namespace {

WindowDimension side_of(const LayerSpec& spec) {
    return {.size = spec.kernel_size,
            .stride = spec.stride.value_or(spec.kernel_size),
            .padding_low = spec.padding,
            .padding_high = spec.padding};
}

/// The result's dims; refuses images smaller than the window.
Dims pooled_dims(const LayerRequest& request) {
    const WindowDimension side = side_of(request.spec);
    const ImageShape image = image_of(request);
    const auto windows = [&](std::int64_t extent) {
        const std::int64_t room = extent + 2 * side.padding_low;
        return room < side.size ? 0 : (room - side.size) / side.stride + 1;
    };
    const Dims dims{image.channels, windows(image.height), windows(image.width)};
    if (dims[1] > 0 && dims[2] > 0) return dims;
    refuse(request,
           fmt::format("an image of at least {0} x {0} pixels (kernel_size {1}, padding {2})",
                       side.size - 2 * side.padding_low, side.size, side.padding_low));
}

}    // namespace

BuiltLayer build_max_pool(const LayerRequest& request) {
    return {forward_of([side = side_of(request.spec)](const Tensor& x) {
                return reduce_window(x, {{}, {}, side, side}, Reduction::maximum);
            }),
            pooled_dims(request)};
}

BuiltLayer build_avg_pool(const LayerRequest& request) {
    // The zeros of the padding are counted, as torch's AvgPool2d does.
    return {forward_of([side = side_of(request.spec)](const Tensor& x) {
                return reduce_window(x, {{}, {}, side, side}, Reduction::add) *
                       constant(1.0 / double(side.size * side.size), x.dtype());
            }),
            pooled_dims(request)};
}

BuiltLayer build_global_avg_pool(const LayerRequest& request) {
    const ImageShape image = image_of(request);
    const double pixels = double(image.height * image.width);
    return {forward_of([pixels](const Tensor& x) {
                const Tensor sum = reduce(x, {2, 3}, Reduction::add);
                return reshape(sum * constant(1.0 / pixels, x.dtype()),
                               {x.dims()[0], x.dims()[1], 1, 1});
            }),
            {image.channels, 1, 1}};
}

}    // namespace slipway::layer_list
