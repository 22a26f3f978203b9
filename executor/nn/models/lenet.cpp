#include "executor/nn/models/lenet.h"

#include <fmt/format.h>

#include "api/base/error.h"

namespace slipway {

namespace {

/// Extent after conv1 (same), pool 2, conv2 (5, no padding), pool 2.
std::int64_t extent_before_fc(std::int64_t extent) {
    return (extent / 2 - 4) / 2;
}

}    // namespace

LeNet LeNet::create(ParameterList& parameters, Init& init, const Options& options) {
    const std::int64_t height = extent_before_fc(options.height);
    const std::int64_t width = extent_before_fc(options.width);
    if (height < 1 || width < 1) {
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("lenet needs images of at least 12 x 12 pixels, got {} x {}; "
                                "set data.image_size to 28 or more",
                                options.height, options.width));
    }
    const std::int64_t m = options.multiplier;
    LeNet model;
    model.conv1 = Convolution::create(
        parameters, init, "conv1",
        {.in_channels = options.channels, .out_channels = 6 * m, .size = 5, .padding = 2});
    model.conv2 = Convolution::create(parameters, init, "conv2",
                                      {.in_channels = 6 * m, .out_channels = 16 * m, .size = 5});
    model.fc1 = Linear::create(parameters, init, "fc1", 16 * m * height * width, 120 * m);
    model.fc2 = Linear::create(parameters, init, "fc2", 120 * m, 84 * m);
    model.fc3 = Linear::create(parameters, init, "fc3", 84 * m, options.classes);
    return model;
}

Tensor LeNet::operator()(const Tensor& x) const {
    Tensor y = max_pool_2d(relu(conv1(x)), 2, 2);
    y = max_pool_2d(relu(conv2(y)), 2, 2);
    const std::int64_t n = y.dims()[0];
    y = reshape(y, {n, y.shape().element_count() / n});
    return fc3(relu(fc2(relu(fc1(y)))));
}

}    // namespace slipway
