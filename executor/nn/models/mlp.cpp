#include "executor/nn/models/mlp.h"

#include <fmt/format.h>

namespace slipway {

Mlp Mlp::create(ParameterList& parameters, Init& init, std::int64_t in_features,
                const std::vector<std::int64_t>& hidden, std::int64_t classes) {
    Mlp model;
    std::int64_t width = in_features;
    for (const std::int64_t next : hidden) {
        model.layers.push_back(Linear::create(
            parameters, init, fmt::format("layers.{}", model.layers.size()), width, next));
        width = next;
    }
    model.layers.push_back(Linear::create(
        parameters, init, fmt::format("layers.{}", model.layers.size()), width, classes));
    return model;
}

Tensor Mlp::operator()(const Tensor& x) const {
    const std::int64_t n = x.dims()[0];
    Tensor y = reshape(x, {n, x.shape().element_count() / n});
    for (std::size_t i = 0; i + 1 < layers.size(); ++i)
        y = relu(layers[i](y));
    return layers.back()(y);
}

}    // namespace slipway
