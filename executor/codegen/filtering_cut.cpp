#include "executor/codegen/filtering_cut.h"

#include <algorithm>
#include <array>

namespace slipway {

namespace {

constexpr std::int64_t window = 3;

bool lies_channels_last(const View& images) {
    const View last = ordered_view(images.dims, {0, 2, 3, 1});
    return images.offset == 0 && same_places(images, last);
}

TiledImages images_of(const View& view, const View& results, const Dims& margins) {
    TiledImages images{.batch = view.dims[0],
                       .channels = view.dims[1],
                       .pixel_step = view.dims[1],
                       .extents = {view.dims[2], view.dims[3]},
                       .tiles = {},
                       .margins = {margins[0], margins[1]}};
    for (std::size_t i = 0; i < 2; ++i)
        images.tiles[i] = (results.dims[i + 2] + filtered_rows - 1) / filtered_rows;
    return images;
}

constexpr std::int64_t float_bytes = sizeof(float);

/// As many of the results' channels as have weights that fit.
std::int64_t slice_for(std::int64_t channels, std::int64_t results, std::int64_t bytes_max) {
    constexpr std::int64_t narrow = 32;
    for (const std::int64_t slice : {results, 2 * narrow})
        if (results % slice == 0 && planes_bytes(channels, slice) <= bytes_max) return slice;
    return results % narrow == 0 ? narrow : filtered_channels;
}

}    // namespace

bool filtering_applies(const ConvolutionSpec& spec, const FilteringLimits& limits) {
    const auto is_all = [](const Dims& dims, std::int64_t value) {
        return std::ranges::all_of(dims, [&](std::int64_t d) { return d == value; });
    };
    const auto is_taken = [&](DType type) {
        return type == DType::f32 || (type == DType::bf16 && limits.takes_bf16);
    };
    return is_taken(spec.operands) && is_taken(spec.results) && spec.packs_weights &&
           spec.strides.size() == 2 && spec.w.dims[0] == 1 &&
           is_all({spec.w.dims[3], spec.w.dims[4]}, window) && is_all(spec.strides, 1) &&
           is_all(spec.dilations, 1) && spec.w.dims[1] % filtered_channels == 0 &&
           spec.w.dims[2] % filtered_channels == 0 && element_count(spec.x) > 0 &&
           element_count(spec.y) > 0 && lies_channels_last(spec.x) && lies_channels_last(spec.y);
}

Filtering filtering_of(const ConvolutionSpec& spec) {
    View weights = spec.w;
    weights.dims.erase(weights.dims.begin());
    weights.strides.erase(weights.strides.begin());
    if (spec.kind == ConvolutionKind::backward_data) {
        const Dims margins{window - 1 - spec.padding_low[0], window - 1 - spec.padding_low[1]};
        return {images_of(spec.y, spec.x, margins), images_of(spec.x, spec.x, {0, 0}),
                reversed_view(weights, {2, 3})};
    }
    return {images_of(spec.x, spec.y, spec.padding_low), images_of(spec.y, spec.y, {0, 0}),
            transposed_view(weights, {1, 0, 2, 3})};
}

// Measured on one thread inside a step (bench/product_rates; direct convolutions / this), GFLOP/s
// as if by the definition:
//                                     forward    images     weights
//    64 images, 32 to 32 of 14x14     168 190    166 187    176 142
//    64 images, 32 to 64 of 14x14     161 229    153 246    173 197
//    16 images, 64 of 32x32           163 365    145 380    148 312
//     2 images, 64 of 16x16           194 386    190 421    181 267    (32 tiles)
//    16 images, 128 of 16x16          176 395    173 395    167 335
//    16 images, 256 of 14x14          176 314    162 311    161 288
//    16 images, 256 of 8x8            172 251    169 261    153 257    (64 tiles)
//     8 images, 256 of 8x8            175 193    171 199    154 222    (32 tiles)
//     4 images, 256 of 8x8            174 155    178 159    155 187    (16 tiles)
//    32 images, 512 of 4x4            174 223    173 197    107 232    (32 tiles)
//    16 images, 512 of 4x4            172 148    170 132    136 157    (16 tiles)
// The same in bf16 on a processor without tiles (AMD EPYC of Zen 4; products: f32 115, bf16 235):
//    64 images, 32 to 64 of 14x14     245 207    242 191    186 149
//    16 images, 64 of 32x32           230 309    230 307    169 262
//    16 images, 128 of 16x16          245 368    247 364    207 313
//    16 images, 256 of 8x8            262 321    255 329    203 320    (64 tiles)
//    16 images, 512 of 4x4                                  211 191    (16 tiles)
bool filtering_pays(const ConvolutionSpec& spec, const Filtering& filtering,
                    const FilteringLimits& limits) {
    constexpr std::int64_t channels_many = 64;
    std::int64_t channels_min = 32, tiles_min = limits.tiles_min;
    if (spec.operands == DType::bf16) {
        channels_min = limits.channels_min_in_bf16;
        tiles_min *= 2;
    }
    if (spec.kind == ConvolutionKind::backward_weights) tiles_min /= 2;
    const TiledImages& tiles = filtering.tiles;
    const auto [fewer, more] = std::minmax(filtering.windows.channels, tiles.channels);
    const std::int64_t used = tiles.batch * tiles.extents[0] * tiles.extents[1];
    const std::int64_t covered = tiles.tile_count() * filtered_rows * filtered_rows;
    return tiles.tile_count() >= tiles_min && 2 * used >= covered && fewer >= channels_min &&
           (more >= channels_many || used == covered);
}

FilteringLimits filtering_limits_for(const ConvolutionSpec& spec, FilteringLimits limits) {
    if (spec.operands == DType::bf16) limits.weights_bytes_max /= 2;
    return limits;
}

FilteringCut cut_of(const Filtering& filtering, const FilteringLimits& limits) {
    constexpr std::int64_t crowding_step = 1024 / float_bytes;
    const std::int64_t channels = filtering.windows.channels, results = filtering.tiles.channels;
    const std::int64_t tiles = filtering.tiles.tile_count();
    const std::int64_t blocks = (tiles + limits.tiles_at_once - 1) / limits.tiles_at_once;
    // So many tiles hide what it costs to read all weights for each block.
    const bool is_whole = planes_bytes(tiles, channels) > limits.windows_bytes_max;
    FilteringCut cut{
        .tiles = tiles,
        .tiles_at_once = (tiles + blocks - 1) / blocks,
        .results_at_once =
            is_whole ? results : slice_for(channels, results, limits.weights_bytes_max)};
    cut.slices = results / cut.results_at_once;
    // Planes a multiple of 1 KiB apart share few sets of the first-level cache: then a row more.
    const auto crowd = [&](std::int64_t columns) {
        return cut.tiles_at_once * columns % crowding_step == 0;
    };
    cut.rows = cut.tiles_at_once + (crowd(channels) || crowd(cut.results_at_once) ? 1 : 0);
    return cut;
}

FilteringSlice slice_of(const Filtering& filtering, const FilteringCut& cut, std::int64_t number) {
    FilteringSlice slice{filtering.tiles, filtering.weights, number * cut.results_at_once};
    slice.tiles.channels = slice.weights.dims[1] = cut.results_at_once;
    slice.weights.offset += slice.first * slice.weights.strides[1];
    return slice;
}

View planes_view(std::int64_t rows, std::int64_t columns) {
    return dense_view({filtered_planes, rows, columns});
}

std::int64_t planes_bytes(std::int64_t rows, std::int64_t columns) {
    return filtered_planes * rows * columns * float_bytes;
}

std::int64_t planes_bytes(const View& planes) {
    return element_count(planes) * float_bytes;
}

// Slices first: the library makes a copy of what it has to turn around.
std::optional<LibraryKernel> make_gradient_product(const FilteringPlan& plan, bool adds,
                                                   int workers) {
    return make_matmul({.lhs = transposed_view(plan.tiles(), {0, 2, 1}),
                        .rhs = plan.windows(),
                        .result = plan.gradient(),
                        .adds = adds},
                       workers);
}

void multiply_planes(const LibraryKernel& product, int worker, const std::byte* lhs,
                     const std::byte* rhs, std::byte* result, std::byte* scratch) {
    const std::array reads{lhs, rhs};
    const std::array writes{result, scratch};
    product.kernel({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = worker});
}

}    // namespace slipway
