#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "executor/codegen/kernels/paired_patches.h"

namespace slipway {
namespace {

struct PairedCase {
    const char* name;
    PatchShape shape;
    std::int64_t columns;    ///< of a block
};

const PairedCase paired_cases[] = {
    {"three_by_three",
     {.batch = 2,
      .channels = 32,
      .image_step = 5 * 6 * 32,
      .row_step = 6 * 32,
      .extents = {5, 6},
      .windows = {3, 3},
      .strides = {1, 1},
      .dilations = {1, 1},
      .padding_low = {1, 1},
      .positions = {5, 6}},
     64},
    {"odd_positions_with_gaps",
     {.batch = 3,
      .channels = 16,
      .image_step = 9 * 7 * 16,
      .row_step = 7 * 16,
      .extents = {9, 7},
      .windows = {3, 2},
      .strides = {2, 3},
      .dilations = {2, 1},
      .padding_low = {2, 0},
      .positions = {5, 3}},
     48},
    {"cut_out_of_larger_images",
     {.batch = 2,
      .channels = 48,
      .offset = 96,
      .image_step = 8 * 8 * 48,
      .row_step = 8 * 48,
      .extents = {5, 4},
      .windows = {1, 1},
      .strides = {1, 1},
      .dilations = {1, 1},
      .padding_low = {0, 0},
      .positions = {5, 4}},
     16},
};

class PairedPatches : public testing::TestWithParam<PairedCase> {};

// Goal: each element is where the layout has it, and what fills up the last blocks is zero.
// Method: the same patches in rows, by the other kernel.
TEST_P(PairedPatches, are_the_patches_in_the_other_order) {
    const auto& [name, shape, columns] = GetParam();
    const std::int64_t row_blocks = (shape.row_count() + 31) / 32;
    const std::int64_t column_blocks = (shape.row_elements() + columns - 1) / columns;
    const PairedLayout layout{.columns = columns,
                              .row_block_step = 32 * columns,
                              .column_block_step = row_blocks * 32 * columns,
                              .byte_count = column_blocks * row_blocks * 32 * columns * 2};
    std::vector<std::uint16_t> images(std::size_t(shape.offset + shape.batch * shape.image_step));
    std::mt19937 random(1);
    for (std::uint16_t& number : images)
        number = std::uint16_t(1 + random() % 60000);
    std::vector<std::uint16_t> rows(std::size_t(shape.row_count() * shape.row_elements()));
    std::vector<std::uint16_t> paired(std::size_t(layout.byte_count) / 2, 7);
    const auto run = [&](const Kernel& kernel, std::vector<std::uint16_t>& to) {
        const std::byte* const reads[] = {reinterpret_cast<const std::byte*>(images.data())};
        std::byte* const writes[] = {reinterpret_cast<std::byte*>(to.data())};
        kernel({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = 0});
    };
    run(make_patches(shape, DType::bf16), rows);
    run(make_paired_patches(shape, layout), paired);
    for (std::int64_t k = 0; k < row_blocks * 32; ++k)
        for (std::int64_t n = 0; n < column_blocks * columns; ++n) {
            const bool exists = k < shape.row_count() && n < shape.row_elements();
            const std::uint16_t expected =
                exists ? rows[std::size_t(k * shape.row_elements() + n)] : std::uint16_t(0);
            const std::int64_t place = k / 32 * layout.row_block_step +
                                       n / columns * layout.column_block_step +
                                       (k % 32 / 2 * columns + n % columns) * 2 + k % 2;
            ASSERT_EQ(paired[std::size_t(place)], expected) << "row " << k << ", column " << n;
        }
}

INSTANTIATE_TEST_SUITE_P(Shape, PairedPatches, testing::ValuesIn(paired_cases),
                         [](const auto& row) { return std::string(row.param.name); });

}    // namespace
}    // namespace slipway
