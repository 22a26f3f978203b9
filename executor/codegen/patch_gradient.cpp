#include "executor/codegen/patch_gradient.h"

#include <algorithm>
#include <array>

#include "executor/codegen/convolutions.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

namespace {

/// Measured (bench/product_rates), 16 images, GFLOP/s of the primitive and of the products:
///   bf16  512 channels of 4x4    103   552      f32  512 channels of 4x4      104   123
///   bf16  256 channels of 8x8    338   575      f32  256 to 512, stride 2      82   141
///   bf16  128 of 16x16           530   600      f32  64 to 128, 1x1 stride 2   55   107
///   bf16  64 of 32x32            615   420
///   bf16  64 to 128, stride 2    266   600      bf16 64 to 128, 1x1 stride 2   74   280
///   bf16  256 to 512, stride 2    65   543
bool pays(const ConvolutionSpec& spec, const PatchShape& shape) {
    constexpr std::int64_t channels_min = 32, channels_many = 128;
    constexpr std::int64_t few_positions_bf16 = 2048, few_positions = 256;
    const std::int64_t channels = std::min(shape.channels, spec.y.dims[1]);
    if (channels < channels_min) return false;
    const bool skips = shape.strides[0] > 1 || shape.strides[1] > 1;
    if (spec.operands == DType::bf16)
        return skips || channels >= channels_many || shape.row_count() <= few_positions_bf16;
    const bool is_point = shape.windows[0] == 1 && shape.windows[1] == 1;
    return (skips && is_point) || shape.row_count() <= few_positions;
}

/// As many images as have patches that stay in a core's second-level cache, or twice as many bytes
/// as the sums to which they are added; all blocks are equal.
std::int64_t images_at_once(const PatchShape& shape, std::int64_t outputs, DType operands) {
    constexpr std::int64_t cached_bytes = 1 << 20;
    const std::int64_t image_bytes = shape.positions[0] * shape.positions[1] *
                                     shape.row_elements() * std::int64_t(size_in_bytes(operands));
    const std::int64_t sum_bytes = outputs * shape.row_elements() * std::int64_t(sizeof(float));
    std::int64_t images = std::clamp<std::int64_t>(
        std::max(cached_bytes, 2 * sum_bytes) / image_bytes, 1, shape.batch);
    while (shape.batch % images != 0)
        --images;
    return images;
}

/// dy^T times the patches of a block, or that added to what is there.
std::optional<LibraryKernel> make_product(const ConvolutionSpec& spec, const PatchShape& block,
                                          bool adds, int workers) {
    const std::int64_t outputs = spec.y.dims[1];
    return make_matmul({.lhs = {{outputs, block.row_count()}, {1, outputs}, 0},
                        .rhs = dense_view({block.row_count(), block.row_elements()}),
                        .result = dense_view({outputs, block.row_elements()}),
                        .operands = spec.operands,
                        .results = spec.results,
                        .adds = adds},
                       workers);
}

}    // namespace

std::optional<LibraryKernel> make_patch_gradient(const ConvolutionSpec& spec, int workers) {
    if (spec.strides.size() != 2 || spec.w.dims[0] != 1) return {};
    PatchShape block = patch_shape_of(spec);
    if (block.row_count() == 0 || block.row_elements() == 0 || !pays(spec, block)) return {};
    const std::int64_t images = images_at_once(block, spec.y.dims[1], spec.operands);
    const std::int64_t blocks = block.batch / images;
    if (blocks > 1 && spec.results != DType::f32) return {};
    block.batch = images;
    const auto first = make_product(spec, block, false, workers);
    const auto next = blocks > 1 ? make_product(spec, block, true, workers) : first;
    if (!first || !next) return {};
    const auto size = std::int64_t(size_in_bytes(spec.operands));
    const std::int64_t patch_bytes =
        (block.row_count() * block.row_elements() * size + 63) / 64 * 64;
    const std::int64_t x_step = images * block.image_step * size;
    const std::int64_t y_step = block.row_count() * spec.y.dims[1] * size;
    const auto run = [=, make_patches = make_patches(block, spec.operands), first = *first,
                      next = *next](const KernelCall& call) {
        std::byte* const patches = call.writes[1];
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::array x{call.reads[0] + i * x_step};
            make_patches({.reads = x, .writes = std::array{patches}});
            const std::array operands{call.reads[1] + i * y_step,
                                      static_cast<const std::byte*>(patches)};
            const std::array results{call.writes[0], patches + patch_bytes};
            (i == 0 ? first : next)
                .kernel({.reads = operands, .writes = results, .worker = call.worker});
        }
    };
    return LibraryKernel{
        .kernel = run,
        .scratch_bytes = patch_bytes + std::max(first->scratch_bytes, next->scratch_bytes),
        .name = "patches " + first->name,
        .packing = {}};
}

}    // namespace slipway
