#include "executor/tensor/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipway {

std::int64_t Shape::element_count() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : dims)
        count *= extent;
    return count;
}

std::string to_string(const Shape& shape) {
    return fmt::format("{}[{}]", to_string(shape.dtype), fmt::join(shape.dims, ","));
}

Dims strides_of(const Dims& dims) {
    Dims strides(dims.size(), 1);
    for (std::size_t i = dims.size(); i-- > 1;)
        strides[i - 1] = strides[i] * dims[i];
    return strides;
}

}    // namespace slipway
