#pragma once

#include <cstdint>

#include "executor/codegen/kernels/patches.h"
#include "executor/codegen/kernels/view.h"
#include "executor/program/program.h"
#include "executor/tensor/dtype.h"

/// Convolutions of images with one channel, such as grey ones in a network's first layer: too few
/// numbers for a product of matrices, so the outputs' channels lie in a register and each pixel is
/// multiplied with all of them.
namespace slipway {

struct SingleChannel {
    PatchShape images;    ///< one channel
    std::int64_t outputs = 16;
    View weights;                                         ///< [outputs, rows, columns]
    DType operands = DType::f32, results = DType::f32;    ///< f32 or bf16; sums are f32
};

/// Whether there are kernels for it: windows of 3x3 or 5x5 without gaps, outputs that fill
/// registers (a multiple of 16).
bool is_single_channel(const PatchShape& images, std::int64_t outputs);

/// writes[0] (channels-last [batch, positions..., outputs]) = the convolution of the images
/// reads[0] with the weights reads[1].
Kernel make_single_channel(const SingleChannel& convolution);

/// writes[0] (weights, f32) = their gradient: reads[0] are the images, reads[1] the gradient of the
/// result, channels-last. The sum of each image's sums.
Kernel make_single_channel_gradient(const SingleChannel& convolution);

}    // namespace slipway
