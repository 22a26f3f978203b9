#include "executor/nn/linear.h"

namespace slipway {

Linear Linear::create(ParameterList& parameters, Init& init, const std::string& name,
                      std::int64_t in_features, std::int64_t out_features) {
    Linear layer;
    layer.weight = parameters.add(name + ".weight",
                                  init.fan_in_uniform({out_features, in_features}, in_features));
    layer.bias = parameters.add(name + ".bias", init.fan_in_uniform({out_features}, in_features));
    return layer;
}

Tensor Linear::operator()(const Tensor& x) const {
    const Tensor product = dot_general(
        x, weight,
        {.lhs_batching = {}, .rhs_batching = {}, .lhs_contracting = {1}, .rhs_contracting = {1}});
    return product + broadcast_in_dim(bias, product.dims(), {1});
}

}    // namespace slipway
