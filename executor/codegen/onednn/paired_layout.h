#pragma once

#include <optional>

#include "executor/codegen/kernels/paired_patches.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway {

/// The layout that the library chose for a matrix of bf16, if it is one with rows in pairs.
std::optional<PairedLayout> paired_layout(const LibraryLayout& layout);

}    // namespace slipway
