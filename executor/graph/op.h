#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "executor/tensor/array.h"
#include "executor/tensor/shape.h"

namespace slipway {

/// The operations, with StableHLO's names and meaning; what each does is in
/// docs/contributing/ops.md, what the code knows about each is a row of op_table.h. Some are ours:
/// `input` is bound at run time; `stop_gradient` is the identity whose derivative is zero
/// (simplify_algebra removes it); `get_result` is a further result of an op with several;
/// `composite` is a row of composite_table.h; `erf` is CHLO's; `scatter_add` is the one kind of
/// scatter there is. Those that C++ has taken the name of are called logical_*.
enum class OpCode : std::uint8_t {
    input,
    constant,
    iota,
    broadcast_in_dim,
    reshape,
    transpose,
    slice,
    pad,
    concatenate,
    reverse,
    dynamic_slice,
    dynamic_update_slice,
    gather,
    scatter_add,
    convert,
    bitcast_convert,
    negate,
    abs,
    sign,
    exponential,
    exponential_minus_one,
    log,
    log_plus_one,
    sqrt,
    rsqrt,
    tanh,
    logistic,
    erf,
    sine,
    cosine,
    floor,
    is_finite,
    logical_not,
    add,
    subtract,
    multiply,
    divide,
    maximum,
    minimum,
    power,
    remainder,
    logical_and,
    logical_or,
    logical_xor,
    shift_left,
    shift_right_logical,
    compare,
    select,
    clamp,
    dot_general,
    convolution,
    reduce,
    reduce_window,
    select_and_scatter,
    batch_norm_training,
    batch_norm_inference,
    batch_norm_grad,
    stop_gradient,
    optimization_barrier,
    get_result,
    composite,
    all_reduce    ///< last: the table's size follows from it
};

enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class Reduction : std::uint8_t { add, maximum, minimum };

struct NoAttributes {
    bool operator==(const NoAttributes&) const = default;
};
/// input: placement is in the node. `name` is for printing only and not hashed.
struct InputAttributes {
    std::string name;
    bool operator==(const InputAttributes&) const { return true; }
};
/// constant: a scalar, broadcast by its users (arrays are inputs, not constants). Equal when the
/// bits are: 0 and -0 differ, a NaN equals itself.
struct ConstantAttributes {
    double value = 0;
    bool operator==(const ConstantAttributes& other) const {
        return std::bit_cast<std::uint64_t>(value) == std::bit_cast<std::uint64_t>(other.value);
    }
};
struct IotaAttributes {
    std::int64_t dimension = 0;
    bool operator==(const IotaAttributes&) const = default;
};
/// broadcast_in_dim: operand dimension i becomes result dimension `dimensions[i]`.
struct BroadcastAttributes {
    Dims dimensions;
    bool operator==(const BroadcastAttributes&) const = default;
};
struct TransposeAttributes {
    Dims permutation;
    bool operator==(const TransposeAttributes&) const = default;
};
struct SliceAttributes {
    Dims start, limit, strides;
    bool operator==(const SliceAttributes&) const = default;
};
/// pad: edge padding may be negative; interior padding may not.
struct PadAttributes {
    Dims low, high, interior;
    bool operator==(const PadAttributes&) const = default;
};
struct ConcatenateAttributes {
    std::int64_t dimension = 0;
    bool operator==(const ConcatenateAttributes&) const = default;
};
struct ReverseAttributes {
    Dims dimensions;
    bool operator==(const ReverseAttributes&) const = default;
};
struct CompareAttributes {
    Comparison direction = Comparison::eq;
    bool operator==(const CompareAttributes&) const = default;
};
/// dot_general: `result` is the result's dtype where it is not the operands': f32 of bf16 ones.
struct DotAttributes {
    Dims lhs_batching, rhs_batching, lhs_contracting, rhs_contracting;
    std::optional<DType> result = std::nullopt;
    bool operator==(const DotAttributes&) const = default;
};
/// One spatial dimension of a convolution or a window.
struct WindowDimension {
    std::int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0, base_dilation = 1,
                 window_dilation = 1;
    bool operator==(const WindowDimension&) const = default;
};
/// convolution: input [N, C, H, W], kernel [O, I, KH, KW], output [N, O, OH, OW] unless the
/// permutations say otherwise: `input_layout[i]` is the operand's dimension that plays role i of
/// (batch, feature, spatial...); likewise kernel (output feature, input feature, spatial...) and
/// output (batch, feature, spatial...).
struct ConvolutionAttributes {
    std::vector<WindowDimension> window;    ///< one per spatial dimension; size = kernel extent
    Dims input_layout, kernel_layout, output_layout;
    std::int64_t feature_groups = 1;
    std::int64_t batch_groups = 1;
    std::optional<DType> result = std::nullopt;    ///< as in DotAttributes
    bool operator==(const ConvolutionAttributes&) const = default;
};
struct ReduceAttributes {
    Dims dimensions;
    Reduction reduction = Reduction::add;
    bool operator==(const ReduceAttributes&) const = default;
};
/// reduce_window: one WindowDimension per operand dimension.
struct ReduceWindowAttributes {
    std::vector<WindowDimension> window;
    Reduction reduction = Reduction::add;
    bool operator==(const ReduceWindowAttributes&) const = default;
};
/// select_and_scatter: select = ge, scatter = add: the gradient of a maximum window (operands:
/// input, source).
struct SelectAndScatterAttributes {
    std::vector<WindowDimension> window;
    bool operator==(const SelectAndScatterAttributes&) const = default;
};
/// Cores whose sum is rounded by itself where an all_reduce has an exchange type.
inline constexpr int exchange_cores = 8;

/// all_reduce: sum over all cores by the fixed binary tree over core numbers. per_core in,
/// replicated out. `exchange`: of more than one aligned block of exchange_cores cores, the sum of
/// each is rounded to this type (bf16), and so is the sum of all.
struct AllReduceAttributes {
    Reduction reduction = Reduction::add;
    std::optional<DType> exchange = std::nullopt;
    bool operator==(const AllReduceAttributes&) const = default;
};
struct DynamicSliceAttributes {
    Dims sizes;
    bool operator==(const DynamicSliceAttributes&) const = default;
};
/// batch_norm_*: statistics are over all dimensions but the feature dimension.
struct BatchNormAttributes {
    double epsilon = 0;
    std::int64_t feature_dimension = 0;
    bool operator==(const BatchNormAttributes&) const = default;
};
/// get_result: 1 for the second result; the first is the node itself.
struct GetResultAttributes {
    std::int64_t index = 1;
    bool operator==(const GetResultAttributes&) const = default;
};
/// composite: a row of composite_table.h, and the numbers that row wants.
struct CompositeAttributes {
    std::string name;
    std::vector<double> numbers;
    bool operator==(const CompositeAttributes&) const = default;
};

using Attributes =
    std::variant<NoAttributes, InputAttributes, ConstantAttributes, IotaAttributes,
                 BroadcastAttributes, TransposeAttributes, SliceAttributes, PadAttributes,
                 ConcatenateAttributes, ReverseAttributes, CompareAttributes, DotAttributes,
                 ConvolutionAttributes, ReduceAttributes, ReduceWindowAttributes,
                 SelectAndScatterAttributes, AllReduceAttributes, DynamicSliceAttributes,
                 BatchNormAttributes, GetResultAttributes, CompositeAttributes>;

}    // namespace slipway
