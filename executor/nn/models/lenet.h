#pragma once

#include "executor/nn/convolution.h"
#include "executor/nn/linear.h"

namespace slipway {

/// LeNet-5 (LeCun, Bottou, Bengio, Haffner 1998) as it is trained today: ReLU and maximum pooling.
///   conv1 5x5 pad 2 -> 6, pool 2, conv2 5x5 -> 16, pool 2, fc1 -> 120, fc2 -> 84, fc3 -> classes
/// `width` multiplies the channels and hidden features. Images of at least 12 x 12.
struct LeNet {
    Convolution conv1, conv2;
    Linear fc1, fc2, fc3;

    struct Options {
        std::int64_t channels, height, width;
        std::int64_t classes;
        std::int64_t multiplier = 1;
    };
    /// errors  invalid_argument when the image is too small
    static LeNet create(ParameterList& parameters, Init& init, const Options& options);
    /// x f32 [n, channels, height, width] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
