#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "api/base/error.h"
#include "executor/codegen/kernels/elementwise.h"

/// The rows of all elementwise ops: plain loops the compiler turns into vectors. Each is the same
/// arithmetic for every element, so a cut into slices or tiles changes no bit.
namespace slipway {

namespace {

template <class T>
constexpr bool is_float = std::is_floating_point_v<T>;

template <class To, class X, class F>
void unary_row(std::byte* to, const std::byte* const* from, const std::int64_t* steps,
               std::int64_t n) {
    auto* const result = reinterpret_cast<To*>(to);
    const auto* const x = reinterpret_cast<const X*>(from[0]);
    const std::int64_t step = steps[0];
    if (step == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = F::template apply<To>(x[i]);
        return;
    }
    if (step == 0) {
        const To value = F::template apply<To>(x[0]);
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = value;
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        result[i] = F::template apply<To>(x[i * step]);
}

template <class To, class X, class F>
void binary_row(std::byte* to, const std::byte* const* from, const std::int64_t* steps,
                std::int64_t n) {
    auto* const result = reinterpret_cast<To*>(to);
    const auto* const x = reinterpret_cast<const X*>(from[0]);
    const auto* const y = reinterpret_cast<const X*>(from[1]);
    if (steps[0] == 1 && steps[1] == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = F::template apply<To>(x[i], y[i]);
        return;
    }
    if (steps[0] == 1 && steps[1] == 0) {
        const X value = y[0];
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = F::template apply<To>(x[i], value);
        return;
    }
    if (steps[0] == 0 && steps[1] == 1) {
        const X value = x[0];
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = F::template apply<To>(value, y[i]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        result[i] = F::template apply<To>(x[i * steps[0]], y[i * steps[1]]);
}

template <class T>
void select_row(std::byte* to, const std::byte* const* from, const std::int64_t* steps,
                std::int64_t n) {
    auto* const result = reinterpret_cast<T*>(to);
    // As bytes: the compiler makes vectors of them, not of truths.
    const auto* const condition = reinterpret_cast<const std::uint8_t*>(from[0]);
    const auto* const x = reinterpret_cast<const T*>(from[1]);
    const auto* const y = reinterpret_cast<const T*>(from[2]);
    if (steps[0] == 1 && steps[1] == 1 && steps[2] == 1) {
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = condition[i] != 0 ? x[i] : y[i];
        return;
    }
    if (steps[0] == 1 && steps[1] == 1 && steps[2] == 0) {
        const T value = y[0];
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = condition[i] != 0 ? x[i] : value;
        return;
    }
    if (steps[0] == 1 && steps[1] == 0 && steps[2] == 1) {
        const T value = x[0];
#pragma GCC ivdep
        for (std::int64_t i = 0; i < n; ++i)
            result[i] = condition[i] != 0 ? value : y[i];
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        result[i] = condition[i * steps[0]] != 0 ? x[i * steps[1]] : y[i * steps[2]];
}

/// Integers wrap around, so their arithmetic is unsigned.
template <class T>
auto wide(T value) {
    if constexpr (is_float<T>)
        return value;
    else
        return std::uint64_t(value);
}

// ---- the ops: one apply each ---------------------------------------------------------------

struct Negate {
    template <class T>
    static T apply(T x) {
        return T(is_float<T> ? -x : T(0 - wide(x)));
    }
};
struct Absolute {
    template <class T>
    static T apply(T x) {
        if constexpr (is_float<T>)
            return std::abs(x);
        else
            return x < T(0) ? T(0 - wide(x)) : x;
    }
};
struct Sign {
    template <class T>
    static T apply(T x) {
        return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
    }
};
struct Exponential {
    template <class T>
    static T apply(T x) {
        return std::exp(x);
    }
};
struct Logarithm {
    template <class T>
    static T apply(T x) {
        return std::log(x);
    }
};
struct SquareRoot {
    template <class T>
    static T apply(T x) {
        return std::sqrt(x);
    }
};
struct InverseSquareRoot {
    template <class T>
    static T apply(T x) {
        return T(1) / std::sqrt(x);
    }
};
struct HyperbolicTangent {
    template <class T>
    static T apply(T x) {
        return std::tanh(x);
    }
};
struct Logistic {
    template <class T>
    static T apply(T x) {
        return T(1) / (T(1) + std::exp(-x));
    }
};
struct Floor {
    template <class T>
    static T apply(T x) {
        return std::floor(x);
    }
};
struct Add {
    template <class T>
    static T apply(T x, T y) {
        return T(wide(x) + wide(y));
    }
};
struct Subtract {
    template <class T>
    static T apply(T x, T y) {
        return T(wide(x) - wide(y));
    }
};
struct Multiply {
    template <class T>
    static T apply(T x, T y) {
        return T(wide(x) * wide(y));
    }
};
struct Divide {
    template <class T>
    static T apply(T x, T y) {
        return x / y;
    }
};
// A NaN wins over everything. No short circuit: that would keep the loop from becoming vectors.
struct Maximum {
    template <class T>
    static T apply(T x, T y) {
        return (x > y) | (x != x) ? x : y;
    }
};
struct Minimum {
    template <class T>
    static T apply(T x, T y) {
        return (x < y) | (x != x) ? x : y;
    }
};
struct Power {
    template <class T>
    static T apply(T x, T y) {
        return std::pow(x, y);
    }
};
template <Comparison direction>
struct Compare {
    template <class To, class X>
    static To apply(X x, X y) {
        switch (direction) {
            case Comparison::eq:
                return x == y;
            case Comparison::ne:
                return x != y;
            case Comparison::lt:
                return x < y;
            case Comparison::le:
                return x <= y;
            case Comparison::gt:
                return x > y;
            case Comparison::ge:
                return x >= y;
        }
        return false;
    }
};
/// A fraction is cut off, what does not fit becomes the nearest number, NaN 0; integers wrap.
struct Convert {
    template <class To, class X>
    static To apply(X x) {
        if constexpr (std::is_same_v<X, bool>) {
            return static_cast<To>(std::uint8_t(x));
        } else if constexpr (std::is_same_v<To, bool>) {
            return x != X(0);
        } else if constexpr (is_float<X> && std::is_integral_v<To>) {
            using Limits = std::numeric_limits<To>;
            if (std::isnan(x)) return 0;
            if (x >= X(Limits::max())) return Limits::max();
            if (x <= X(Limits::min())) return Limits::min();
            return To(x);
        } else {
            return static_cast<To>(x);
        }
    }
};

// ---- which op has which types --------------------------------------------------------------

using Types = unsigned;
constexpr Types bit(DType dtype) {
    return 1U << unsigned(dtype);
}
constexpr Types floats = bit(DType::f32);
constexpr Types signed_numbers = floats | bit(DType::i32) | bit(DType::i64);
constexpr Types numbers = signed_numbers | bit(DType::u8);
constexpr Types all_types = numbers | bit(DType::pred);

/// Calls call.operator()<T>() for the dtype when it is one of `allowed`; null otherwise.
template <Types allowed, class Call>
ElementRow with_type(DType dtype, Call&& call) {
    if constexpr ((allowed & bit(DType::f32)) != 0)
        if (dtype == DType::f32) return call.template operator()<float>();
    if constexpr ((allowed & bit(DType::i32)) != 0)
        if (dtype == DType::i32) return call.template operator()<std::int32_t>();
    if constexpr ((allowed & bit(DType::i64)) != 0)
        if (dtype == DType::i64) return call.template operator()<std::int64_t>();
    if constexpr ((allowed & bit(DType::u8)) != 0)
        if (dtype == DType::u8) return call.template operator()<std::uint8_t>();
    if constexpr ((allowed & bit(DType::pred)) != 0)
        if (dtype == DType::pred) return call.template operator()<bool>();
    return nullptr;
}

template <class F, Types allowed>
ElementRow unary_of(const RowKey& key) {
    return with_type<allowed>(key.from, []<class T>() -> ElementRow { return unary_row<T, T, F>; });
}

template <class F, Types allowed>
ElementRow binary_of(const RowKey& key) {
    return with_type<allowed>(key.from,
                              []<class T>() -> ElementRow { return binary_row<T, T, F>; });
}

ElementRow select_of(const RowKey& key) {
    return with_type<all_types>(key.from, []<class T>() -> ElementRow { return select_row<T>; });
}

template <Comparison direction>
ElementRow compare_in(DType dtype) {
    return with_type<all_types>(
        dtype, []<class T>() -> ElementRow { return binary_row<bool, T, Compare<direction>>; });
}

ElementRow compare_of(const RowKey& key) {
    static constexpr std::array directions{compare_in<Comparison::eq>, compare_in<Comparison::ne>,
                                           compare_in<Comparison::lt>, compare_in<Comparison::le>,
                                           compare_in<Comparison::gt>, compare_in<Comparison::ge>};
    return directions[std::size_t(key.direction)](key.from);
}

ElementRow convert_of(const RowKey& key) {
    return with_type<all_types>(key.from, [&]<class X>() -> ElementRow {
        return with_type<all_types>(
            key.to, []<class To>() -> ElementRow { return unary_row<To, X, Convert>; });
    });
}

struct OpRows {
    OpCode op;
    ElementRow (*find)(const RowKey& key);
};

constexpr std::array op_rows{
    OpRows{OpCode::negate, unary_of<Negate, signed_numbers>},
    OpRows{OpCode::abs, unary_of<Absolute, signed_numbers>},
    OpRows{OpCode::sign, unary_of<Sign, signed_numbers>},
    OpRows{OpCode::exponential, unary_of<Exponential, floats>},
    OpRows{OpCode::log, unary_of<Logarithm, floats>},
    OpRows{OpCode::sqrt, unary_of<SquareRoot, floats>},
    OpRows{OpCode::rsqrt, unary_of<InverseSquareRoot, floats>},
    OpRows{OpCode::tanh, unary_of<HyperbolicTangent, floats>},
    OpRows{OpCode::logistic, unary_of<Logistic, floats>},
    OpRows{OpCode::floor, unary_of<Floor, floats>},
    OpRows{OpCode::add, binary_of<Add, numbers>},
    OpRows{OpCode::subtract, binary_of<Subtract, numbers>},
    OpRows{OpCode::multiply, binary_of<Multiply, numbers>},
    OpRows{OpCode::divide, binary_of<Divide, floats>},
    OpRows{OpCode::maximum, binary_of<Maximum, numbers>},
    OpRows{OpCode::minimum, binary_of<Minimum, numbers>},
    OpRows{OpCode::power, binary_of<Power, floats>},
    OpRows{OpCode::compare, compare_of},
    OpRows{OpCode::select, select_of},
    OpRows{OpCode::convert, convert_of},
};

}    // namespace

ElementRow find_element_row(const RowKey& key) {
    for (const OpRows& rows : op_rows) {
        if (rows.op != key.op) continue;
        if (const ElementRow row = rows.find(key)) return row;
    }
    throw Error(ErrorCode::invalid_argument,
                fmt::format("op {} of {} to {} cannot run; programs run f32, i32, i64, u8 and pred",
                            int(key.op), to_string(key.from), to_string(key.to)));
}

}    // namespace slipway
