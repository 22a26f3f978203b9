#pragma once

#include "executor/nn/convolution.h"
#include "executor/nn/linear.h"

namespace slipway {

/// The small network of many first tutorials: two 3x3 convolutions and two linear layers.
///   conv1 -> 32, relu, pool 2, conv2 -> 64, relu, pool 2, fc1 -> 128, relu, fc2 -> classes
struct Cnn {
    Convolution conv1, conv2;
    Linear fc1, fc2;

    struct Options {
        std::int64_t channels, height, width;    ///< of an image; at least 4 x 4
        std::int64_t classes;
    };
    static Cnn create(ParameterList& parameters, Init& init, const Options& options);
    /// x f32 [n, channels, height, width] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
