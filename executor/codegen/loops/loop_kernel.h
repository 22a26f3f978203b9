#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/graph/op.h"
#include "executor/tensor/dtype.h"
#include "executor/tensor/shape.h"

/// A kernel of nested loops, as plain data: what the fusion builds and the emitter turns into
/// machine code.
///
///   for each group                                     (groups)
///       for each row                                   (rows)
///           for each element of the row                (inner loops, the last one in vectors)
///
/// Scalar values are computed at every element, or once per row when nothing they depend on varies
/// within it. A reduction runs over the elements of a row and gives a value of the row; what uses
/// it runs in a later pass over the same row. A column store reduces over the rows of a group.
namespace slipway {

using ValueId = std::uint32_t;

/// Where an element lies: offset + the sum of loop index * stride + the sum of index value *
/// stride, in elements of a buffer.
struct LoopAccess {
    struct Term {
        ValueId index = 0;    ///< a value of the row, an integer: row number of a table, a start
        std::int64_t stride = 0;
        bool operator==(const Term&) const = default;
    };
    std::size_t buffer = 0;    ///< position in the call's reads or writes
    Dims strides;              ///< by loop
    std::int64_t offset = 0;
    std::vector<Term> terms = {};
    bool operator==(const LoopAccess&) const = default;
};

enum class LoopValueKind : std::uint8_t {
    load,
    constant,
    counter,    ///< offset + the sum of loop index * stride
    compute,    ///< an elementwise op
    reduce      ///< of one operand over the row
};

struct LoopValue {
    LoopValueKind kind = LoopValueKind::constant;
    DType dtype = DType::f32;
    LoopAccess access = {};    ///< load, counter
    double number = 0;         ///< constant
    OpCode op = OpCode::add;
    Comparison direction = Comparison::eq;    ///< of op compare
    std::vector<ValueId> operands = {};
    Reduction reduction = Reduction::add;
    bool operator==(const LoopValue&) const = default;
};

enum class LoopStoreKind : std::uint8_t {
    element,
    row,       ///< once per row, after its last pass
    column,    ///< reduced over the rows of a group; once per group
    scatter    ///< added to what is there, element by element in the order of the loops
};

struct LoopStore {
    LoopStoreKind kind = LoopStoreKind::element;
    ValueId value = 0;
    LoopAccess to;
    Reduction reduction = Reduction::add;    ///< of column
    bool operator==(const LoopStore&) const = default;
};

struct LoopKernel {
    Dims extents;    ///< by loop, outermost first: groups, rows, inner (at least one)
    std::size_t groups = 0, rows = 0;
    /// The only loop's bounds are given by the call: extents are not part of the kernel.
    bool flat = false;
    std::vector<LoopValue> values;    ///< operands before users
    std::vector<LoopStore> stores;
    std::size_t reads = 0, writes = 0;    ///< buffers; scratch memory is one more write

    std::size_t inner_begin() const { return groups + rows; }
};

/// The kernel as text: equal for kernels that are equal up to buffer names; its identity.
std::string print(const LoopKernel& kernel);

/// Joins neighbouring loops where every access allows it, drops those of one round, and makes a
/// kernel flat that only maps elements lying in one order.
void coalesce(LoopKernel& kernel);

/// What is wrong with it, "" when nothing is: for checks and tests.
std::string find_problem(const LoopKernel& kernel);

/// The element type that a value in memory may have; f64 is for the naive evaluator only.
bool is_loop_type(DType dtype);

}    // namespace slipway
