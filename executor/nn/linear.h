#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// y = x W^T + b.
/// x [n, in_features]   weight [out_features, in_features]   bias [out_features]   y [n,
/// out_features] Initial values: both U(-k, k), k = 1/sqrt(in_features), as torch.nn.Linear.
struct Linear {
    Tensor weight;
    Tensor bias;

    static Linear create(ParameterList& parameters, Init& init, const std::string& name,
                         std::int64_t in_features, std::int64_t out_features);
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
