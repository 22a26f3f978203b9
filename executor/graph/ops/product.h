#pragma once

#include "executor/graph/ops.h"
#include "executor/graph/ops/loops.h"

/// What dot_general and convolution have in common: which type the result may have.
namespace slipway {

inline bool is_product_type(DType operands, DType result) {
    return result == operands || (operands == DType::bf16 && result == DType::f32);
}

/// Calls call.template operator()<Operand, Result>().
template <class Call>
auto with_product_types(DType operands, DType result, Call&& call) {
    if (operands != result) return call.template operator()<BFloat16, float>();
    return with_floating_type(operands,
                              [&]<class T>() { return call.template operator()<T, T>(); });
}

/// x, converted where it has another type.
inline Tensor as_type(const Tensor& x, DType dtype) {
    return x.dtype() == dtype ? x : convert(x, dtype);
}

}    // namespace slipway
