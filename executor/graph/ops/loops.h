#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "api/base/check.h"
#include "executor/tensor/array.h"

/// What the naive evaluators share: calling a generic lambda with the element type, walking an
/// index, sums.
namespace slipway {

/// Calls call.template operator()<T>() for the element type.
template <class Call>
auto with_any_type(DType dtype, Call&& call) {
    switch (dtype) {
        case DType::pred:
            return call.template operator()<bool>();
        case DType::u8:
            return call.template operator()<std::uint8_t>();
        case DType::u32:
            return call.template operator()<std::uint32_t>();
        case DType::i32:
            return call.template operator()<std::int32_t>();
        case DType::i64:
            return call.template operator()<std::int64_t>();
        case DType::bf16:
            return call.template operator()<BFloat16>();
        case DType::f32:
            return call.template operator()<float>();
        case DType::f64:
            break;
    }
    return call.template operator()<double>();
}

/// The same for the types one can calculate with; pred was refused by the shape rule.
template <class Call>
auto with_number_type(DType dtype, Call&& call) {
    switch (dtype) {
        case DType::u8:
            return call.template operator()<std::uint8_t>();
        case DType::u32:
            return call.template operator()<std::uint32_t>();
        case DType::i32:
            return call.template operator()<std::int32_t>();
        case DType::i64:
            return call.template operator()<std::int64_t>();
        case DType::bf16:
            return call.template operator()<BFloat16>();
        case DType::f32:
            return call.template operator()<float>();
        default:
            break;
    }
    check(dtype == DType::f64, "the shape rule lets only numbers through");
    return call.template operator()<double>();
}

template <class Call>
auto with_floating_type(DType dtype, Call&& call) {
    if (dtype == DType::bf16) return call.template operator()<BFloat16>();
    if (dtype == DType::f32) return call.template operator()<float>();
    check(dtype == DType::f64, "the shape rule lets only floating types through");
    return call.template operator()<double>();
}

/// What a sum of T is kept in: f64 for floating types, rounded once at the end; unsigned for
/// integers, whose sums wrap around.
template <class T>
using Sum = std::conditional_t<is_floating_type<T>, double, std::uint64_t>;

/// The same for the types of whole numbers.
template <class Call>
auto with_integer_type(DType dtype, Call&& call) {
    switch (dtype) {
        case DType::u8:
            return call.template operator()<std::uint8_t>();
        case DType::u32:
            return call.template operator()<std::uint32_t>();
        case DType::i32:
            return call.template operator()<std::int32_t>();
        default:
            break;
    }
    check(dtype == DType::i64, "the shape rule lets only integers through");
    return call.template operator()<std::int64_t>();
}

/// Calls body(index) for each index of an array with these dims, in row-major order.
template <class Body>
void for_each_index(const Dims& dims, Body&& body) {
    std::int64_t count = 1;
    for (const std::int64_t extent : dims)
        count *= extent;
    Dims index(dims.size(), 0);
    for (std::int64_t n = 0; n < count; ++n) {
        body(std::as_const(index));
        for (std::size_t i = dims.size(); i-- > 0;) {
            if (++index[i] < dims[i]) break;
            index[i] = 0;
        }
    }
}

/// Where an index lies in a row-major array with these strides.
inline std::size_t offset_of(const Dims& index, const Dims& strides) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < index.size(); ++i)
        offset += index[i] * strides[i];
    return std::size_t(offset);
}

/// result[index] = source(index) for each index, where source gives an offset into x: the ops that
/// only move elements.
template <class Source>
Array gathered(const Shape& shape, const Array& x, Source&& source) {
    return with_any_type(shape.dtype, [&]<class T>() {
        Array result(shape);
        const auto from = x.as<T>();
        auto to = result.as<T>();
        std::size_t n = 0;
        for_each_index(shape.dims, [&](const Dims& index) { to[n++] = from[source(index)]; });
        return result;
    });
}

}    // namespace slipway
