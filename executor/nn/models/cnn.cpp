#include "executor/nn/models/cnn.h"

namespace slipway {

Cnn Cnn::create(ParameterList& parameters, Init& init, const Options& options) {
    const std::int64_t features = 64 * (options.height / 4) * (options.width / 4);
    Cnn model;
    model.conv1 = Convolution::create(
        parameters, init, "conv1",
        {.in_channels = options.channels, .out_channels = 32, .size = 3, .padding = 1});
    model.conv2 =
        Convolution::create(parameters, init, "conv2",
                            {.in_channels = 32, .out_channels = 64, .size = 3, .padding = 1});
    model.fc1 = Linear::create(parameters, init, "fc1", features, 128);
    model.fc2 = Linear::create(parameters, init, "fc2", 128, options.classes);
    return model;
}

Tensor Cnn::operator()(const Tensor& x) const {
    Tensor y = max_pool_2d(relu(conv1(x)), 2, 2);
    y = max_pool_2d(relu(conv2(y)), 2, 2);
    const std::int64_t n = y.dims()[0];
    return fc2(relu(fc1(reshape(y, {n, y.shape().element_count() / n}))));
}

}    // namespace slipway
