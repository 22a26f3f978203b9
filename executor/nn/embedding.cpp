#include "executor/nn/embedding.h"

namespace slipway {

Embedding Embedding::create(ParameterList& parameters, const std::string& name, Array weight) {
    return {.weight = parameters.add(name + ".weight", std::move(weight))};
}

Tensor Embedding::operator()(const Tensor& indices) const {
    return embedding(weight, indices);
}

}    // namespace slipway
