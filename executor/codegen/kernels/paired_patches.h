#pragma once

#include <cstdint>

#include "executor/codegen/kernels/patches.h"
#include "executor/program/program.h"

namespace slipway {

/// A matrix of bf16 as processors multiply it from the right: two rows' elements side by side, in
/// blocks of 32 rows and some columns. Element (k, n) is at
///   k/32 * row_block_step + n/columns * column_block_step + (k%32/2 * columns + n%columns)*2 + k%2
/// Rows and columns that fill up the last blocks are zeros.
struct PairedLayout {
    static constexpr std::int64_t rows = 32;
    static constexpr std::int64_t paired_channels = 16;

    std::int64_t columns = paired_channels;
    std::int64_t row_block_step = 0, column_block_step = 0;
    std::int64_t byte_count = 0;
};

/// The same as make_patches of bf16 images, in this layout. The images' channels and the blocks'
/// columns are multiples of paired_channels.
Kernel make_paired_patches(const PatchShape& shape, const PairedLayout& layout);

}    // namespace slipway
