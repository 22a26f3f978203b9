#pragma once

#include <vector>

#include "executor/nn/linear.h"

namespace slipway {

/// A multilayer perceptron: flatten, then (linear, relu) for each hidden width, then linear to the
/// classes. Parameters: layers.0.weight, layers.0.bias, layers.1.weight, …
struct Mlp {
    std::vector<Linear> layers;

    static Mlp create(ParameterList& parameters, Init& init, std::int64_t in_features,
                      const std::vector<std::int64_t>& hidden, std::int64_t classes);
    /// x f32 [n, …] -> logits f32 [n, classes]
    Tensor operator()(const Tensor& x) const;
};

}    // namespace slipway
