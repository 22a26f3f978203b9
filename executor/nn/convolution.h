#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// A square convolution with bias.
/// x [n, in_channels, h, w]   weight [out_channels, in_channels, size, size]   bias [out_channels]
/// Initial values: both U(-k, k), k = 1/sqrt(in_channels * size * size), as torch.nn.Conv2d.
struct Convolution {
    Tensor weight;
    Tensor bias;
    std::int64_t stride = 1;
    std::int64_t padding = 0;

    struct Options {
        std::int64_t in_channels, out_channels, size;
        std::int64_t stride = 1;
        std::int64_t padding = 0;
    };
    static Convolution create(ParameterList& parameters, Init& init, const std::string& name,
                              const Options& options);
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
