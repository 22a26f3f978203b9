#pragma once

#include <cstdint>
#include <vector>

#include "executor/codegen/kernels/view.h"
#include "executor/graph/op.h"
#include "executor/program/program.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// Computes n elements of one op: to[i] = op(from[0][i * steps[0]], ...). `to` is dense and may be
/// the same memory as a `from` with step 1.
using ElementRow = void (*)(std::byte* to, const std::byte* const* from, const std::int64_t* steps,
                            std::int64_t n);

/// The row of an elementwise op (unary, binary, compare, select, convert) over operands of dtype
/// `from` (of select: the values, not the condition) that gives `to`.
/// errors  invalid_argument when there is none: f64 is for the naive evaluator only
struct RowKey {
    OpCode op;
    DType from, to;
    Comparison direction = Comparison::eq;    ///< of compare
};
ElementRow find_element_row(const RowKey& key);

/// One op of a group: its operands are inputs of the group or results of earlier ops of it.
struct ElementOp {
    struct Operand {
        bool is_input = true;
        std::size_t index = 0;
    };
    ElementRow row = nullptr;
    std::vector<Operand> operands;
    DType result = DType::f32;
};

/// A group of elementwise ops over equal dims that runs as one step; the last op's result is the
/// group's, the others' live in a tile of cache. Call: reads = inputs by index, writes[0] = result.
struct ElementGroup {
    Dims dims;
    std::vector<View> inputs;
    std::vector<DType> input_types;
    std::vector<ElementOp> ops;
};
inline constexpr std::size_t group_ops_max = 12;

/// A kernel, and what a Step must say about it.
struct ElementKernel {
    Kernel kernel;
    std::int64_t elements = 0;            ///< Step::elements: > 0 when it can be sliced
    std::vector<std::size_t> in_place;    ///< the inputs whose memory the result may take over
};
ElementKernel make_element_kernel(ElementGroup group);

}    // namespace slipway
