#pragma once

#include <vector>

#include "executor/codegen/kernels/view.h"
#include "executor/program/program.h"

namespace slipway {

/// A copy, and what a Step must say about it.
struct CopyKernel {
    Kernel kernel;
    std::int64_t elements = 0;    ///< Step::elements: > 0 when it can be sliced
    bool in_place = false;        ///< the copy may take over the operand's memory
};
/// writes[0] = the elements of a view of reads[0], dense.
/// errors  invalid_argument when no program runs the dtype
CopyKernel make_copy(const View& view, DType dtype);

/// writes[0] = reads[0] (a dense value of dims `from`) with padding of reads[1], a scalar.
Kernel make_pad(const Dims& from, const PadAttributes& padding, const Shape& result);

/// writes[0] = the views of the reads, one after the other along `dimension`.
Kernel make_concatenate(const std::vector<View>& parts, std::int64_t dimension,
                        const Shape& result);

/// 0, 1, 2... along `dimension`, as bytes of a dense value.
/// errors  invalid_argument when no program runs the dtype
std::vector<std::byte> iota_bytes(const Shape& shape, std::int64_t dimension);
/// One element.
std::vector<std::byte> scalar_bytes(DType dtype, double value);

}    // namespace slipway
