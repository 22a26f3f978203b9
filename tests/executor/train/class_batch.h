#pragma once

#include <utility>

#include "executor/train/task.h"

namespace slipway {

/// Classification with loss and accuracy. Its sums: loss, labels, correct.
inline Task class_task() {
    return make_task(JobSpec{});
}

inline BatchShape class_batch(std::int64_t batch_size_per_core, Dims feature_dims) {
    return {batch_size_per_core, class_sample_shape(std::move(feature_dims))};
}

}    // namespace slipway
