#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// Ba, Kiros and Hinton 2016, as torch.nn.LayerNorm over the last axis: scale 1, bias 0 at first.
/// x [..., features]   weight, bias [features]
struct LayerNormalization {
    Tensor weight, bias;
    double epsilon = 1e-5;

    static LayerNormalization create(ParameterList& parameters, const std::string& name,
                                     std::int64_t features, double epsilon);
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
