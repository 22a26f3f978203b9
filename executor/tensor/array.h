#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "api/base/check.h"
#include "executor/tensor/bfloat16.h"
#include "executor/tensor/shape.h"

namespace slipway {

template <class T>
constexpr DType dtype_of() {
    if constexpr (std::is_same_v<T, float>) return DType::f32;
    if constexpr (std::is_same_v<T, double>) return DType::f64;
    if constexpr (std::is_same_v<T, BFloat16>) return DType::bf16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
    if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
    if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
    if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
    if constexpr (std::is_same_v<T, bool>) return DType::pred;
}

/// A dense, row-major tensor in host memory, 64-byte aligned.
/// Copying an Array shares its bytes (the count is atomic); `clone` copies them.
/// Not synchronised: whoever writes owns the only live view or holds off the readers.
class Array {
public:
    Array() = default;
    /// Zeroed memory of this shape.
    explicit Array(Shape shape);

    const Shape& shape() const { return shape_; }
    std::int64_t element_count() const { return shape_.element_count(); }
    std::int64_t byte_count() const { return shape_.byte_count(); }
    bool empty() const { return bytes_ == nullptr; }

    std::byte* bytes() { return bytes_.get(); }
    const std::byte* bytes() const { return bytes_.get(); }

    /// The elements as T; T must be the element type (pred is bool).
    template <class T>
    std::span<T> as() {
        check(dtype_of<T>() == shape_.dtype, "an Array is read as its own element type");
        return {reinterpret_cast<T*>(bytes_.get()), std::size_t(element_count())};
    }
    template <class T>
    std::span<const T> as() const {
        check(dtype_of<T>() == shape_.dtype, "an Array is read as its own element type");
        return {reinterpret_cast<const T*>(bytes_.get()), std::size_t(element_count())};
    }

    /// An independent copy.
    Array clone() const;
    /// The same bytes under other dims; the element count must not change.
    Array reshaped(Dims dims) const;

private:
    Shape shape_;
    std::shared_ptr<std::byte[]> bytes_;    // shared: values are bound to programs without copying
};

/// An array holding `values`, which must fill `dims` exactly.
template <class T>
Array array_of(Dims dims, std::span<const T> values) {
    Array array(Shape{dtype_of<T>(), std::move(dims)});
    check(std::int64_t(values.size()) == array.element_count(), "values fill the array");
    std::copy(values.begin(), values.end(), array.as<T>().begin());
    return array;
}

}    // namespace slipway
