#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>
#include <vector>

#include "executor/codegen/onednn/library_kernel.h"

/// What the primitives of this room share. Not for other rooms: they include no oneDNN.
namespace slipway::onednn {

using Desc = dnnl::memory::desc;
using LibraryDims = dnnl::memory::dims;

/// How an operand lies in its buffer, and how the primitive wants it: a reorder goes between where
/// they differ. (A layout pass that keeps values blocked will make them equal.)
struct Operand {
    int argument = 0;           ///< DNNL_ARG_...
    std::int64_t offset = 0;    ///< of its first element in the buffer, in elements
    Desc plain;
    Desc wanted;
};

struct PrimitiveParts {
    dnnl::engine engine;
    dnnl::primitive primitive;
    std::vector<Operand> reads;
    Operand result;
    Desc scratchpad;
};

/// A kernel that reorders the reads, runs the primitive and reorders the result.
LibraryKernel assemble(const PrimitiveParts& parts, int workers, std::string name);

/// Calls `make` with the OpenMP team of this thread set to one, so that the primitive is planned
/// for one thread and the same on every machine. Nothing when the library does not offer it.
/// errors  internal when the library fails otherwise
std::optional<LibraryKernel> make_single_threaded(
    const std::function<LibraryKernel(const dnnl::engine& engine)>& make);

/// Primitives take their scratch memory from our plan.
dnnl::primitive_attr plan_owned_scratchpad();

}    // namespace slipway::onednn
