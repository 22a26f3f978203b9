#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/tensor/dtype.h"

namespace slipway {

using Dims = std::vector<std::int64_t>;

/// Element type and extents of a dense, row-major tensor. A scalar has no dims.
struct Shape {
    DType dtype = DType::f32;
    Dims dims;

    std::int64_t rank() const { return std::int64_t(dims.size()); }
    std::int64_t element_count() const;
    std::int64_t byte_count() const { return element_count() * std::int64_t(size_in_bytes(dtype)); }
    bool operator==(const Shape&) const = default;
};

/// "f32[8,3]"; a scalar is "f32[]".
std::string to_string(const Shape& shape);

/// Row-major strides in elements.
Dims strides_of(const Dims& dims);

}    // namespace slipway
