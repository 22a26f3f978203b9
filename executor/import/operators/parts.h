#pragma once

#include <cstdint>
#include <utility>

#include "executor/import/call.h"
#include "executor/import/operator_table.h"

/// What the operators are lowered with.
namespace slipway::importer {

/// Whole numbers are i32 here, floating ones f32: PyTorch's i64 is a habit of its indices.
DType array_type(DType stored);
/// torch.dtype by its number in the file.
/// errors  of the call, for complex numbers
DType type_argument(const Call& call, std::string_view name, DType otherwise);

Tensor as_type(const Tensor& x, DType dtype);
/// Numbers and flags as f32.
Tensor as_floating(const Tensor& x);

/// As in numpy: aligned at the last dimension, extents of 1 repeated.
/// errors  of the call, when they do not fit
Dims common_dims(const Call& call, const Dims& x, const Dims& y);
Tensor expanded(const Call& call, const Tensor& x, const Dims& dims);

struct Operands {
    Tensor x, y;
};
/// Two operands of one type and shape; a number takes the type of the tensor beside it, unless it
/// has a fraction and the tensor has none.
Operands operands(const Call& call, std::string_view x, std::string_view y);
Operands operands(const Call& call, const Value& x, const Value& y);

/// `dims`, of a tensor that some machine can hold.
/// errors  of the call, when an extent is negative or the elements are more than 2^40
const Dims& checked_dims(const Call& call, const Dims& dims);

/// The dims with one -1 filled in.
/// errors  of the call, when they do not have as many elements
Dims filled_dims(const Call& call, Dims dims, std::int64_t elements);

/// The part of one dimension, with a step.
Tensor part(const Tensor& x, std::int64_t dimension, std::int64_t start, std::int64_t end,
            std::int64_t step = 1);
Tensor without_dimension(const Tensor& x, std::int64_t dimension);
Tensor with_dimension(const Tensor& x, std::int64_t dimension);
/// Each element of a dimension `times` times, one behind the other.
Tensor repeated_elements(const Call& call, const Tensor& x, std::int64_t dimension,
                         std::int64_t times);
/// The permutation that exchanges two dimensions.
Tensor exchanged(const Tensor& x, std::int64_t one, std::int64_t other);

/// The sum over `dimensions`, divided by `divisor`; extents of 1 stay when `keeps`.
Tensor reduced(const Tensor& x, const Dims& dimensions, Reduction reduction, bool keeps);
Tensor mean_of(const Tensor& x, const Dims& dimensions, bool keeps);

inline Tensor number_like(const Tensor& x, double value) {
    return constant(value, x.dtype());
}

/// The pass's dropout at a rate of its own. Where the batch is not the first dimension alone, its
/// samples are found by the batch size, so that the draws do not depend on the number of cores.
Tensor dropped_at(const Call& call, const Tensor& x, double rate);

/// Over the last axis; without scale or bias by an empty handle.
Tensor normalized(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon);

template <class... Tensors>
Value list_of(Tensors... tensors) {
    return {std::vector<Value>{Value{tensors}...}};
}
Value list_of(std::vector<Tensor> tensors);

}    // namespace slipway::importer
