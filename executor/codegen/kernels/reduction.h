#pragma once

#include <limits>

#include <fmt/format.h>

#include "api/base/error.h"
#include "executor/graph/op.h"
#include "executor/tensor/dtype.h"

/// Combining two numbers, shared by the kernels that reduce.
namespace slipway {

template <Reduction reduction, class T>
constexpr T neutral() {
    using Limits = std::numeric_limits<T>;
    if constexpr (reduction == Reduction::add) return T(0);
    if constexpr (reduction == Reduction::maximum)
        return Limits::has_infinity ? T(-Limits::infinity()) : Limits::lowest();
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// The first NaN wins over everything. No short circuit: that would keep loops from becoming
/// vectors.
template <Reduction reduction, class T>
T combined(T x, T y) {
    if constexpr (reduction == Reduction::add) return T(x + y);
    if constexpr (reduction == Reduction::maximum) return ((x > y) | (x != x)) ? x : y;
    return ((x < y) | (x != x)) ? x : y;
}

/// Calls call.operator()<reduction, T>() for the numbers that programs run.
template <Reduction reduction, class Call>
auto with_number(DType dtype, Call&& call) {
    switch (dtype) {
        case DType::f32:
            return call.template operator()<reduction, float>();
        case DType::i32:
            return call.template operator()<reduction, std::int32_t>();
        case DType::i64:
            return call.template operator()<reduction, std::int64_t>();
        case DType::u8:
            return call.template operator()<reduction, std::uint8_t>();
        default:
            throw Error(
                ErrorCode::invalid_argument,
                fmt::format("programs reduce f32, i32, i64 and u8, not {}", to_string(dtype)));
    }
}

template <class Call>
auto with_reduction(Reduction reduction, DType dtype, Call&& call) {
    if (reduction == Reduction::add) return with_number<Reduction::add>(dtype, call);
    if (reduction == Reduction::maximum) return with_number<Reduction::maximum>(dtype, call);
    return with_number<Reduction::minimum>(dtype, call);
}

}    // namespace slipway
