#pragma once

#include <array>
#include <cstdint>

#include "executor/program/program.h"
#include "executor/tensor/dtype.h"

namespace slipway {

/// Windows over channels-last images [batch, extents..., channels], which may be cut out of larger
/// ones.
struct PatchShape {
    std::int64_t batch = 1, channels = 1;
    /// In elements: of the first one, between images, between their rows. Pixels are `channels`
    /// apart.
    std::int64_t offset = 0, image_step = 0, row_step = 0;
    std::array<std::int64_t, 2> extents{}, windows{}, strides{}, dilations{}, padding_low{};
    std::array<std::int64_t, 2> positions{};    ///< windows along each dimension

    std::int64_t row_count() const { return batch * positions[0] * positions[1]; }
    std::int64_t row_elements() const { return windows[0] * windows[1] * channels; }
};

/// writes[0] = a matrix of row_count() rows: what each window of the images reads[0] sees, as
/// [windows..., channels], 0 outside the image. A convolution is a product with this matrix.
Kernel make_patches(const PatchShape& shape, DType dtype);

}    // namespace slipway
