#include "executor/codegen/patch_gradient.h"

#include <algorithm>
#include <array>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/codegen/onednn/paired_layout.h"

namespace slipway {

namespace {

/// Measured (bench/product_rates), 16 images unless said, GFLOP/s of the primitive and of the
/// products:
///   bf16  64 images, 32 to 64 of 14x14   400   490      f32  512 of 4x4                  104   123
///   bf16  64 of 32x32                    615   530      f32  256 to 512, stride 2         82   141
///   bf16  128 of 16x16                   530   740      f32  64 to 128, 1x1 stride 2      55   107
///   bf16  256 of 8x8                     338   600      bf16 64 to 128, 1x1 stride 2      74   250
///   bf16  512 of 4x4                     103   600      bf16 256 to 512, stride 2         65   600
///   bf16  64 to 128, stride 2            266   710
/// Without tiles, inside a step of 64 images of 14x14, 32 to 64: 4.95 ms and 5.25 to 5.7.
/// Windows side by side are no more bytes than the image, however few its channels are. 3 to 512,
/// windows of 16x16 over 128x128, milliseconds: bf16 25.5 and 20.8, f32 13.3 and 10.9; with tiles
/// the primitive needs 154, a fifth of the step.
bool pays(const ConvolutionSpec& spec, const PatchShape& shape) {
    constexpr std::int64_t channels_min = 32, channels_few = 64, channels_many = 128;
    constexpr std::int64_t few_positions_bf16 = 2048, few_positions = 256, row_elements_min = 32;
    const bool skips = shape.strides[0] > 1 || shape.strides[1] > 1;
    const bool is_side_by_side =
        shape.strides[0] >= shape.windows[0] && shape.strides[1] >= shape.windows[1];
    if (skips && is_side_by_side && shape.row_elements() >= row_elements_min) return true;
    const std::int64_t channels = std::min(shape.channels, spec.y.dims[1]);
    if (channels < channels_min) return false;
    if (spec.operands == DType::bf16)
        return skips || (shape.channels < channels_few && multiplies_bf16_in_tiles()) ||
               channels >= channels_many || shape.row_count() <= few_positions_bf16;
    const bool is_point = shape.windows[0] == 1 && shape.windows[1] == 1;
    return (skips && is_point) || shape.row_count() <= few_positions;
}

/// As many images as have patches that stay in a core's second-level cache, or twice as many bytes
/// as the sums to which they are added; all blocks are equal.
std::int64_t images_at_once(const ConvolutionSpec& spec, const PatchShape& shape) {
    constexpr std::int64_t cached_bytes = 1 << 20;
    if (spec.results != DType::f32) return shape.batch;    // sums of blocks would be rounded
    const std::int64_t image_bytes = shape.positions[0] * shape.positions[1] *
                                     shape.row_elements() *
                                     std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t sum_bytes =
        spec.y.dims[1] * shape.row_elements() * std::int64_t(sizeof(float));
    std::int64_t images = std::clamp<std::int64_t>(
        std::max(cached_bytes, 2 * sum_bytes) / image_bytes, 1, shape.batch);
    while (shape.batch % images != 0)
        --images;
    return images;
}

/// dy^T times the patches of a block, or that added to what is there.
std::optional<LibraryKernel> make_product(const ConvolutionSpec& spec, const PatchShape& block,
                                          bool packs, bool adds, int workers) {
    const std::int64_t outputs = spec.y.dims[1];
    return make_matmul({.lhs = {{outputs, block.row_count()}, {1, outputs}, 0},
                        .rhs = dense_view({block.row_count(), block.row_elements()}),
                        .result = dense_view({outputs, block.row_elements()}),
                        .operands = spec.operands,
                        .results = spec.results,
                        .packs_rhs = packs,
                        .adds = adds},
                       workers);
}

/// What makes a block's patches and what multiplies with them: the first one's, and all others.
struct BlockKernels {
    Kernel patches;
    std::int64_t patch_bytes;
    LibraryKernel first, next;
};

/// Patches in the order in which the processor wants them, where the library says what that is.
std::optional<BlockKernels> make_paired(const ConvolutionSpec& spec, const PatchShape& block,
                                        bool is_only, int workers) {
    if (spec.operands != DType::bf16 || block.channels % PairedLayout::paired_channels != 0)
        return {};
    const auto first = make_product(spec, block, true, false, workers);
    const auto next = is_only ? first : make_product(spec, block, true, true, workers);
    if (!first || !next || !first->packing || !next->packing) return {};
    const auto layout = paired_layout(first->packing->layout);
    if (!layout || next->packing->layout != first->packing->layout) return {};
    return BlockKernels{make_paired_patches(block, *layout), layout->byte_count, *first, *next};
}

std::optional<BlockKernels> make_plain(const ConvolutionSpec& spec, const PatchShape& block,
                                       bool is_only, int workers) {
    const auto first = make_product(spec, block, false, false, workers);
    const auto next = is_only ? first : make_product(spec, block, false, true, workers);
    if (!first || !next) return {};
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    return BlockKernels{make_patches(block, spec.operands),
                        block.row_count() * block.row_elements() * size, *first, *next};
}

}    // namespace

std::optional<LibraryKernel> make_patch_gradient(const ConvolutionSpec& spec, int workers) {
    constexpr std::int64_t line = 64;
    if (spec.strides.size() != 2 || spec.w.dims[0] != 1) return {};
    PatchShape block = patch_shape_of(spec);
    if (block.row_count() == 0 || block.row_elements() == 0 || !pays(spec, block)) return {};
    const std::int64_t images = images_at_once(spec, block);
    const std::int64_t blocks = block.batch / images;
    block.batch = images;
    auto kernels = make_paired(spec, block, blocks == 1, workers);
    if (!kernels) kernels = make_plain(spec, block, blocks == 1, workers);
    if (!kernels) return {};
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t patch_bytes = (kernels->patch_bytes + line - 1) / line * line;
    const std::int64_t x_step = images * block.image_step * size;
    const std::int64_t y_step = block.row_count() * spec.y.dims[1] * size;
    const auto run = [=, kernels = *kernels](const KernelCall& call) {
        std::byte* const patches = call.writes[1];
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::array x{call.reads[0] + i * x_step};
            kernels.patches({.reads = x, .writes = std::array{patches}});
            const std::array operands{call.reads[1] + i * y_step,
                                      static_cast<const std::byte*>(patches)};
            const std::array results{call.writes[0], patches + patch_bytes};
            (i == 0 ? kernels.first : kernels.next)
                .kernel({.reads = operands, .writes = results, .worker = call.worker});
        }
    };
    return LibraryKernel{.kernel = run,
                         .scratch_bytes = patch_bytes + std::max(kernels->first.scratch_bytes,
                                                                 kernels->next.scratch_bytes),
                         .name = "patches " + kernels->first.name,
                         .packing = {}};
}

}    // namespace slipway
