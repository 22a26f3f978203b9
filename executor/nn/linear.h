#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// y = x W^T + b.
///   x [..., in_features]   weight [out_features, in_features]   bias [out_features]
///   y [..., out_features]
struct Linear {
    Tensor weight;
    Tensor bias;    ///< empty: none

    /// Initial values as torch.nn.Linear: both U(-k, k), k = 1/sqrt(in_features).
    static Linear create(ParameterList& parameters, Init& init, const std::string& name,
                         std::int64_t in_features, std::int64_t out_features);
    /// With these initial values; an empty `bias` leaves it out.
    static Linear create(ParameterList& parameters, const std::string& name, Array weight,
                         Array bias);
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
