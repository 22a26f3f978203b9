#pragma once

#include <string>

#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// A row of the table for each index, as torch.nn.Embedding.
/// indices i32 [...]   weight [count, features]   result [..., features]
struct Embedding {
    Tensor weight;

    static Embedding create(ParameterList& parameters, const std::string& name, Array weight);
    Tensor operator()(const Tensor& indices) const;
};

}    // namespace slipway
