#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// A square convolution.
/// x [n, in_channels, h, w]   weight [out_channels, in_channels / groups, size, size]
/// bias [out_channels]
struct Convolution {
    Tensor weight;
    Tensor bias;    ///< empty: none, as before a batch norm
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t groups = 1;    ///< parts of the channels, each convolved by itself

    struct Options {
        std::int64_t in_channels, out_channels, size;
        std::int64_t stride = 1;
        std::int64_t padding = 0;
        std::int64_t groups = 1;    ///< a divisor of both numbers of channels

        Dims weight_dims() const { return {out_channels, in_channels / groups, size, size}; }
        std::int64_t fan_in() const { return in_channels / groups * size * size; }
        std::int64_t fan_out() const { return out_channels * size * size; }
    };
    /// Initial values as torch.nn.Conv2d: both U(-k, k), k = 1/sqrt(fan_in).
    static Convolution create(ParameterList& parameters, Init& init, const std::string& name,
                              const Options& options);
    /// With these initial values; an empty `bias` leaves it out.
    static Convolution create(ParameterList& parameters, const std::string& name,
                              const Options& options, Array weight, Array bias);
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
