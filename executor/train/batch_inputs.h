#pragma once

#include "executor/data/samples.h"
#include "executor/graph/ops.h"

namespace slipway {

/// What one core computes at once.
struct BatchShape {
    std::int64_t batch_size_per_core = 1;
    SampleShape sample;
};

/// The inputs that each core fills with its own samples.
struct BatchInputs {
    Tensor features;    ///< [batch_size_per_core, …sample.features]
    Tensor labels;      ///< [batch_size_per_core, …sample.labels]
    Tensor weights;     ///< f32 [batch_size_per_core]: 1, or 0 for padding

    explicit BatchInputs(const BatchShape& batch);
};

}    // namespace slipway
