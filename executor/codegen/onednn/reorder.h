#pragma once

#include <optional>

#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// writes[0] = the elements of a view of reads[0], dense.
/// returns nothing when the library has no fast kernel: repetitions, steps backwards, other types
std::optional<LibraryKernel> make_reorder(const View& view, DType dtype, int workers);

}    // namespace slipway
