#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"

/// What the primitives of this module share. Not for other modules: they include no oneDNN.
namespace slipway::onednn {

using Desc = dnnl::memory::desc;
using LibraryDims = dnnl::memory::dims;

/// The library's name of an element type; nothing for those its primitives are not used with.
std::optional<dnnl::memory::data_type> data_type_of(DType dtype);

/// How an operand lies in its buffer, and how the primitive wants it. Where they differ, a reorder
/// goes between; the caller's (a Packing) when the operand comes packed, else the kernel's.
struct Operand {
    int argument = 0;           ///< DNNL_ARG_...
    std::int64_t offset = 0;    ///< of its first element in the buffer, in elements
    Desc plain;
    Desc wanted;
    bool packed = false;
};

struct PrimitiveParts {
    dnnl::engine engine;
    dnnl::primitive primitive;
    std::vector<Operand> reads;
    Operand result;
    Desc scratchpad;
};

/// A kernel that reorders the reads, runs the primitive and reorders the result; with the packing
/// of the one operand that is packed, if any.
LibraryKernel assemble(const PrimitiveParts& parts, int workers, std::string name);

/// The dims and strides of a view, as the library's.
Desc desc_of(const View& view, dnnl::memory::data_type type);

/// How good an implementation is by its name: 2 for kernels made for the machine, 1 for those by
/// way of another product, 0 for plain loops.
int rank_of(std::string_view implementation);

/// Calls `make` with the OpenMP team of this thread set to one, so that the primitive is planned
/// for one thread and the same on every machine. Nothing when the library does not offer it.
/// errors  internal when the library fails otherwise
std::optional<LibraryKernel> make_single_threaded(
    const std::function<std::optional<LibraryKernel>(const dnnl::engine& engine)>& make);

/// A worker runs primitives all its life: the OpenMP team of its thread stays one.
void keep_this_worker_single();

/// Primitives take their scratch memory from our plan.
dnnl::primitive_attr plan_owned_scratchpad();

}    // namespace slipway::onednn
