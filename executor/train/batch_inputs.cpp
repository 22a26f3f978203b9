#include "executor/train/batch_inputs.h"

#include <string>

namespace slipway {

namespace {

Tensor batch_input(std::int64_t batch_size, const Shape& sample, std::string name) {
    Dims dims = sample.dims;
    dims.insert(dims.begin(), batch_size);
    return input({sample.dtype, std::move(dims)}, Placement::per_core, std::move(name));
}

}    // namespace

BatchInputs::BatchInputs(const BatchShape& batch)
    : features(batch_input(batch.batch_size_per_core, batch.sample.features, "features")),
      labels(batch_input(batch.batch_size_per_core, batch.sample.labels, "labels")),
      weights(batch_input(batch.batch_size_per_core, {DType::f32, {}}, "weights")) {}

}    // namespace slipway
