#pragma once

#include <optional>

#include "executor/codegen/filtering_cut.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"

namespace slipway {

/// The convolution by minimal filtering F(4x4, 3x3) (executor/codegen/kernels/minimal_filtering.h):
/// our transforms of channels-last images, a few tiles at a time so that they stay in the caches,
/// and the library's products in f32. Errors grow from about 1e-6 of the results' size to 2e-5.
/// Call as ConvolutionSpec says; with a packing, the weights of the first two kinds come
/// transformed, else each call transforms a slice of them at a time. A number that is not finite
/// spoils its tile of 4x4 results.
/// returns nothing where it does not apply (other types, windows, layouts; channels that do not
/// fill registers) or where the direct convolution is faster
std::optional<LibraryKernel> make_filtered_convolution(const ConvolutionSpec& spec, int workers,
                                                       const FilteringLimits& limits = {});

}    // namespace slipway
