#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "executor/graph/ops.h"
#include "executor/tensor/random.h"

namespace slipway {

/// An input for one core's part of the batch, and what makes the values of the whole batch: the
/// same at each call.
struct BenchInput {
    Tensor input;
    std::function<Array()> values;
};

/// The fixed random input of a benchmark: the same for any number of cores, which share the batch.
class BenchInputs {
public:
    /// `batch` samples over `cores` cores: a multiple.
    BenchInputs(std::int64_t batch, int cores) : batch_(batch), cores_(cores) {}

    std::int64_t batch() const { return batch_; }
    int cores() const { return cores_; }
    std::int64_t batch_per_core() const { return batch_ / cores_; }
    const std::vector<BenchInput>& all() const { return inputs_; }

    /// f32 [batch / cores, sample_dims…]: N(0, 1).
    Tensor normal(const char* name, Dims sample_dims);
    /// f32 [batch / cores, sample_dims…]: 0 or 1.
    Tensor coins(const char* name, Dims sample_dims);
    /// i32 [batch / cores, sample_dims…]: first…end-1.
    Tensor integers(const char* name, Dims sample_dims, std::int64_t first, std::int64_t end);
    /// i32 [batch / cores, count]: for each sample `count` different numbers below `end`, rising.
    Tensor choices(const char* name, std::int64_t count, std::int64_t end);

private:
    using Fill = std::function<void(Array& values, RandomStream& stream)>;
    Tensor add(const char* name, DType dtype, Dims sample_dims, Fill fill);

    std::int64_t batch_;
    int cores_;
    std::vector<BenchInput> inputs_;
};

/// The part of one core: rows `core * n / cores` and following of the first dimension.
Array part_of(const Array& whole, int core, int cores);

}    // namespace slipway
