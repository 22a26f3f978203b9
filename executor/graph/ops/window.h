#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "executor/graph/op.h"

/// The arithmetic of windows, shared by convolution, reduce_window and their gradients.
namespace slipway {

/// Extent with dilation - 1 gaps between neighbours.
std::int64_t dilated(std::int64_t extent, std::int64_t dilation);

/// How often the window fits over an operand of this extent; 0 or less when it does not.
std::int64_t window_count(const WindowDimension& window, std::int64_t extent);

bool is_positive(const WindowDimension& window);    ///< size, stride, dilations are at least 1

/// The window that spreads the result's gradient (extent `count`) back over the operand (extent
/// `extent`): steps become gaps and gaps become steps.
WindowDimension transposed(const WindowDimension& window, std::int64_t extent, std::int64_t count);

/// Where in the operand window element `element` of window `position` lies; nothing when in padding
/// or in a gap.
inline std::optional<std::int64_t> window_source(const WindowDimension& window, std::int64_t extent,
                                                 std::int64_t position, std::int64_t element) {
    const std::int64_t at =
        position * window.stride + element * window.window_dilation - window.padding_low;
    if (at < 0 || at % window.base_dilation != 0) return {};
    if (at / window.base_dilation >= extent) return {};
    return at / window.base_dilation;
}

}    // namespace slipway
