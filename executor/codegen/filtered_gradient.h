#pragma once

#include <optional>

#include "executor/codegen/filtering_cut.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/stacked_product.h"

namespace slipway {

/// The gradient of the weights over all cores: the transformed tiles of dy and windows of x of all
/// cores lie one core's after the other's, and workers share blocks of the output features. Where
/// they are few bytes, or many with few channels, nothing is gathered: each worker transforms what
/// its features need, all at once or a block of tiles at a time.
/// spec  of one core, of the kind backward_weights
/// returns nothing where it does not apply or would not pay for the images of all cores
std::optional<StackedGradient> make_filtered_gradient(const ConvolutionSpec& spec, int cores,
                                                      int workers,
                                                      const FilteringLimits& limits = {});

}    // namespace slipway
