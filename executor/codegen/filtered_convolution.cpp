// Cuts a convolution by minimal filtering into work that stays in a core's second-level cache:
// tiles into blocks, channels of the result into slices where all transformed weights are too
// many. A block's windows are transformed, multiplied plane by plane, and transformed back.
// Whether that pays was measured by size and type (the table below), and the direct convolution
// is taken where it does not. Gradients of weights of few tiles, of one core or of all, are not
// multiplied plane by plane: a block of weights is multiplied and transformed back at once
// (docs/decisions/0094). The cut depends on shapes alone, so bits do not depend on the
// number of workers.
#include "executor/codegen/filtered_convolution.h"

#include <algorithm>
#include <array>
#include <limits>

#include "executor/codegen/kernels/minimal_filtering.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

namespace {

constexpr std::int64_t window = 3;

bool lies_channels_last(const View& images) {
    const View last = ordered_view(images.dims, {0, 2, 3, 1});
    return images.offset == 0 && same_places(images, last);
}

bool applies(const ConvolutionSpec& spec, const FilteringLimits& limits) {
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

/// What is read in windows, what comes out (or its gradient) in tiles.
struct Filtering {
    TiledImages windows, tiles;
    View weights;    ///< [windows' channels, tiles' channels, 3, 3]
};

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

/// The gradient of the images is a convolution with the weights turned around.
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

constexpr std::int64_t float_bytes = sizeof(float);

std::int64_t bytes_of_planes(std::int64_t rows, std::int64_t columns) {
    return filtered_planes * rows * columns * float_bytes;
}

/// How the work is cut so that what is read again soon stays in a core's second-level cache: the
/// tiles into blocks, and the channels of the results into slices where all weights are too many.
struct Cut {
    std::int64_t tiles = 0, tiles_at_once = 0;
    std::int64_t results_at_once = 0, slices = 1;
    std::int64_t rows = 0;    ///< of the planes of a block

    std::int64_t blocks() const { return (tiles + tiles_at_once - 1) / tiles_at_once; }
    TileBlock block(std::int64_t number) const {
        const std::int64_t first = number * tiles_at_once;
        return {first, std::min(tiles_at_once, tiles - first), rows};
    }
    /// Windows are transformed once: where there are several slices, those of all blocks are kept.
    std::int64_t blocks_kept() const { return slices == 1 ? 1 : blocks(); }
};

/// As many of the results' channels as have weights that fit.
std::int64_t slice_for(std::int64_t channels, std::int64_t results, std::int64_t bytes_max) {
    constexpr std::int64_t narrow = 32;
    for (const std::int64_t slice : {results, 2 * narrow})
        if (results % slice == 0 && bytes_of_planes(channels, slice) <= bytes_max) return slice;
    return results % narrow == 0 ? narrow : filtered_channels;
}

Cut cut_of(const Filtering& filtering, const FilteringLimits& limits) {
    constexpr std::int64_t crowding_step = 1024 / float_bytes;
    const std::int64_t channels = filtering.windows.channels, results = filtering.tiles.channels;
    const std::int64_t tiles = filtering.tiles.tile_count();
    const std::int64_t blocks = (tiles + limits.tiles_at_once - 1) / limits.tiles_at_once;
    // So many tiles hide what it costs to read all weights for each block.
    const bool is_whole = bytes_of_planes(tiles, channels) > limits.windows_bytes_max;
    Cut cut{.tiles = tiles,
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

/// Some of the results' channels.
struct Slice {
    TiledImages tiles;
    View weights;
    std::int64_t first = 0;    ///< channel
};

Slice slice_of(const Filtering& filtering, const Cut& cut, std::int64_t number) {
    Slice slice{filtering.tiles, filtering.weights, number * cut.results_at_once};
    slice.tiles.channels = slice.weights.dims[1] = cut.results_at_once;
    slice.weights.offset += slice.first * slice.weights.strides[1];
    return slice;
}

View planes_view(std::int64_t rows, std::int64_t columns) {
    return dense_view({filtered_planes, rows, columns});
}

/// An array of T's.
template <class T>
T* as(std::byte* bytes) {
    return reinterpret_cast<T*>(bytes);
}

template <class T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

/// A product of planes by a kernel of the library.
void multiply(const LibraryKernel& product, int worker, const std::byte* lhs, const std::byte* rhs,
              std::byte* result, std::byte* scratch) {
    const std::array reads{lhs, rhs};
    const std::array writes{result, scratch};
    product.kernel({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = worker});
}

LibraryLayout layout_of(const Filtering& filtering, std::string_view name) {
    const View& weights = filtering.weights;
    LibraryLayout layout{{}, bytes_of_planes(weights.dims[0], weights.dims[1])};
    for (const char letter : name)
        layout.description.push_back(std::byte(letter));
    return layout;
}

/// G w G' of all weights.
template <class Operand>
Packing packing_of(const Filtering& filtering, int workers) {
    const View& weights = filtering.weights;
    LibraryLayout plain = layout_of(filtering, "weights");
    for (const Dims* numbers : {&weights.dims, &weights.strides})
        for (const std::int64_t number : *numbers)
            for (std::size_t byte = 0; byte < sizeof number; ++byte)
                plain.description.push_back(std::byte(number >> (8 * byte)));
    return {.layout = layout_of(filtering, "filtered"),
            .kernel =
                [weights](const KernelCall& call) {
                    std::byte* const held = call.writes[1] + call.worker * filtered_held_bytes;
                    transform_weights(weights, {call.begin, call.end}, as<Operand>(call.reads[0]),
                                      as<float>(call.writes[0]), as<float>(held));
                },
            .scratch_bytes = workers * filtered_held_bytes,
            .elements = weights_parts(weights),
            .plain = plain,
            .plain_offset = weights.offset};
}

/// Transformed weights of all layers live together: where all else takes half the memory, so do
/// they.
FilteringLimits limits_for(const ConvolutionSpec& spec, FilteringLimits limits) {
    if (spec.operands == DType::bf16) limits.weights_bytes_max /= 2;
    return limits;
}

/// A convolution and how it is cut.
struct Plan {
    Filtering filtering;
    Cut cut;

    Plan(const ConvolutionSpec& spec, const FilteringLimits& limits)
        : filtering(filtering_of(spec)), cut(cut_of(filtering, limits_for(spec, limits))) {}

    View windows() const { return planes_view(cut.rows, filtering.windows.channels); }
    View tiles() const { return planes_view(cut.rows, cut.results_at_once); }
    View weights() const { return planes_view(filtering.windows.channels, cut.results_at_once); }
};

std::int64_t bytes_of(const View& planes) {
    return element_count(planes) * float_bytes;
}

/// The parts of a kernel's scratch memory; the rest is for products and transforms of weights.
struct Scratch {
    std::byte *windows, *tiles, *weights, *rest;

    /// `weights_bytes`: 0 where they come transformed.
    Scratch(const Plan& plan, std::int64_t weights_bytes, std::byte* begin)
        : windows(begin),
          tiles(windows + plan.cut.blocks_kept() * bytes_of(plan.windows())),
          weights(tiles + bytes_of(plan.tiles())),
          rest(weights + weights_bytes) {}

    static std::int64_t bytes(const Plan& plan, std::int64_t weights_bytes,
                              std::int64_t product_bytes) {
        return plan.cut.blocks_kept() * bytes_of(plan.windows()) + bytes_of(plan.tiles()) +
               weights_bytes + std::max(filtered_held_bytes, product_bytes);
    }
};

/// Calls body(block, its windows, transformed) for the blocks of a slice.
template <class Operand>
void for_each_block(const Plan& plan, const Slice& slice, const Operand* images, std::byte* windows,
                    const auto& body) {
    for (std::int64_t i = 0; i < plan.cut.blocks(); ++i) {
        const TileBlock block = plan.cut.block(i);
        std::byte* const kept = windows + i % plan.cut.blocks_kept() * bytes_of(plan.windows());
        if (slice.first == 0)
            transform_windows(plan.filtering.windows, block, images, as<float>(kept));
        body(block, kept);
    }
}

/// Forward, or the gradient of the images.
template <class Operand, class Result>
std::optional<LibraryKernel> make_images(const Plan& plan, int workers) {
    const auto product = make_matmul(
        {.lhs = plan.windows(), .rhs = plan.weights(), .result = plan.tiles()}, workers);
    if (!product) return {};
    const bool is_packed = plan.cut.slices == 1;
    const std::int64_t weights_bytes = is_packed ? 0 : bytes_of(plan.weights());
    const auto run = [=, product = *product](const KernelCall& call) {
        const Scratch scratch(plan, weights_bytes, call.writes[1]);
        for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
            const Slice slice = slice_of(plan.filtering, plan.cut, i);
            if (!is_packed)
                transform_weights(slice.weights, as<Operand>(call.reads[1]),
                                  as<float>(scratch.weights), as<float>(scratch.rest));
            const std::byte* const weights = is_packed ? call.reads[1] : scratch.weights;
            for_each_block(plan, slice, as<Operand>(call.reads[0]), scratch.windows,
                           [&](const TileBlock& block, const std::byte* windows) {
                               multiply(product, call.worker, windows, weights, scratch.tiles,
                                        scratch.rest);
                               restore_tiles(slice.tiles, block, as<float>(scratch.tiles),
                                             as<Result>(call.writes[0]) + slice.first);
                           });
        }
    };
    return LibraryKernel{
        .kernel = run,
        .scratch_bytes = Scratch::bytes(plan, weights_bytes, product->scratch_bytes),
        .name = "filtered " + product->name,
        .packing =
            is_packed ? std::optional(packing_of<Operand>(plan.filtering, workers)) : std::nullopt};
}

/// A block's tiles times its windows, [results' channels, windows' channels], or that added to what
/// is there. Slices first: the library makes a copy of what it has to turn around.
std::optional<LibraryKernel> make_sum(const Plan& plan, bool adds, int workers) {
    return make_matmul(
        {.lhs = transposed_view(plan.tiles(), {0, 2, 1}),
         .rhs = plan.windows(),
         .result = planes_view(plan.cut.results_at_once, plan.filtering.windows.channels),
         .adds = adds},
        workers);
}

/// The planes of x and dy where all tiles and channels are done at once.
std::int64_t gradient_planes_bytes(const Plan& plan) {
    return bytes_of(plan.windows()) + bytes_of(plan.tiles());
}

/// The gradient of weights of few tiles: a block of results is transformed back as soon as it has
/// been multiplied. us of one thread, as below / this: one image of 14x14, 32 to 64 channels 28 /
/// 23, four 81 / 70; of 16x16, 64 to 64, one 50 / 41, four 132 / 123; 128 to 128, one 177 / 154,
/// two 270 / 268, three (1.9 MB of planes) 378 / 398, four 466 / 530.
template <class Operand, class Result>
LibraryKernel make_weights_at_once(const Plan& plan) {
    const auto run = [=](const KernelCall& call) {
        const Scratch scratch(plan, 0, call.writes[1]);
        const Filtering& filtering = plan.filtering;
        const std::int64_t count = plan.cut.tiles;
        const TileBlock block{0, count, count, plan.cut.rows};
        transform_windows(filtering.windows, block, as<Operand>(call.reads[0]),
                          as<float>(scratch.windows));
        transform_tiles(filtering.tiles, block, as<Operand>(call.reads[1]),
                        as<float>(scratch.tiles));
        multiply_and_restore(transposed_view(filtering.weights, {1, 0, 2, 3}),
                             {.tiles = as<float>(scratch.tiles),
                              .windows = as<float>(scratch.windows),
                              .count = count,
                              .rows = plan.cut.rows},
                             as<Result>(call.writes[0]));
    };
    return {.kernel = run,
            .scratch_bytes = gradient_planes_bytes(plan),
            .name = "filtered",
            .packing = {}};
}

template <class Operand, class Result>
std::optional<LibraryKernel> make_weights(const Plan& plan, const FilteringLimits& limits,
                                          int workers) {
    if (plan.cut.blocks() == 1 && plan.cut.slices == 1 &&
        gradient_planes_bytes(plan) <= limits.gradient_planes_bytes_max)
        return make_weights_at_once<Operand, Result>(plan);
    const auto first = make_sum(plan, false, workers);
    const auto next = plan.cut.blocks() == 1 ? first : make_sum(plan, true, workers);
    if (!first || !next) return {};
    const std::int64_t weights_bytes = bytes_of(plan.weights());
    const auto run = [=, first = *first, next = *next](const KernelCall& call) {
        const Scratch scratch(plan, weights_bytes, call.writes[1]);
        for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
            const Slice slice = slice_of(plan.filtering, plan.cut, i);
            for_each_block(plan, slice, as<Operand>(call.reads[0]), scratch.windows,
                           [&](const TileBlock& block, const std::byte* windows) {
                               transform_tiles(slice.tiles, block,
                                               as<Operand>(call.reads[1]) + slice.first,
                                               as<float>(scratch.tiles));
                               multiply(block.first == 0 ? first : next, call.worker, scratch.tiles,
                                        windows, scratch.weights, scratch.rest);
                           });
            restore_weights(transposed_view(slice.weights, {1, 0, 2, 3}),
                            as<float>(scratch.weights), as<Result>(call.writes[0]),
                            as<float>(scratch.rest));
        }
    };
    const std::int64_t product_bytes = std::max(first->scratch_bytes, next->scratch_bytes);
    return LibraryKernel{.kernel = run,
                         .scratch_bytes = Scratch::bytes(plan, weights_bytes, product_bytes),
                         .name = "filtered " + first->name,
                         .packing = {}};
}

/// Whether tiles enough, and full enough, pay for the transforms. Measured on one thread inside a
/// step (bench/product_rates; direct convolutions / this), GFLOP/s as if by the definition:
///                                     forward    images     weights
///    64 images, 32 to 32 of 14x14     168 190    166 187    176 142
///    64 images, 32 to 64 of 14x14     161 229    153 246    173 197
///    16 images, 64 of 32x32           163 365    145 380    148 312
///     2 images, 64 of 16x16           194 386    190 421    181 267    (32 tiles)
///    16 images, 128 of 16x16          176 395    173 395    167 335
///    16 images, 256 of 14x14          176 314    162 311    161 288
///    16 images, 256 of 8x8            172 251    169 261    153 257    (64 tiles)
///     8 images, 256 of 8x8            175 193    171 199    154 222    (32 tiles)
///     4 images, 256 of 8x8            174 155    178 159    155 187    (16 tiles)
///    32 images, 512 of 4x4            174 223    173 197    107 232    (32 tiles)
///    16 images, 512 of 4x4            172 148    170 132    136 157    (16 tiles)
/// The same in bf16 on a processor without tiles (AMD EPYC of Zen 4; products: f32 115, bf16 235):
///    64 images, 32 to 64 of 14x14     245 207    242 191    186 149
///    16 images, 64 of 32x32           230 309    230 307    169 262
///    16 images, 128 of 16x16          245 368    247 364    207 313
///    16 images, 256 of 8x8            262 321    255 329    203 320    (64 tiles)
///    16 images, 512 of 4x4                                  211 191    (16 tiles)
bool pays(const ConvolutionSpec& spec, const Filtering& filtering, const FilteringLimits& limits) {
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

template <class Operand, class Result>
std::optional<LibraryKernel> make_of(const ConvolutionSpec& spec, const FilteringLimits& limits,
                                     int workers) {
    const Plan plan(spec, limits);
    return spec.kind == ConvolutionKind::backward_weights
               ? make_weights<Operand, Result>(plan, limits, workers)
               : make_images<Operand, Result>(plan, workers);
}

/// How the gradient of all cores' images is made: the planes of all tiles, [36, rows, channels],
/// the results' channels in blocks, each with planes of its own.
struct JoinedPlan {
    Filtering filtering;    ///< of one core
    Cut cut;                ///< of all cores: one block of all tiles, several slices

    JoinedPlan(const ConvolutionSpec& spec, int cores, const FilteringLimits& limits)
        : filtering(filtering_of(spec)) {
        constexpr std::int64_t slices_wanted = 4, narrow = 32;
        ConvolutionSpec all = spec;
        all.x.dims[0] *= cores;
        all.y.dims[0] *= cores;
        FilteringLimits of_all = limits_for(spec, limits);
        of_all.tiles_at_once = filtering.tiles.tile_count() * cores;
        of_all.windows_bytes_max = std::numeric_limits<std::int64_t>::max();
        const std::int64_t slice = std::max(narrow, filtering.tiles.channels / slices_wanted);
        of_all.weights_bytes_max =
            std::min(of_all.weights_bytes_max, bytes_of_planes(filtering.windows.channels, slice));
        cut = cut_of(filtering_of(all), of_all);
    }

    View windows() const { return planes_view(cut.rows, filtering.windows.channels); }
    View tiles() const { return planes_view(cut.rows, cut.results_at_once); }
    View weights() const { return planes_view(cut.results_at_once, filtering.windows.channels); }
    /// Those of a core, and the rest of the rows with the last one.
    TileBlock block(std::int64_t core) const {
        const std::int64_t count = filtering.tiles.tile_count(), first = core * count;
        const bool is_last = first + count == cut.tiles;
        return {0, count, is_last ? cut.rows - first : count, cut.rows};
    }
};

template <class Operand>
Kernel make_joined_planes(const JoinedPlan& plan) {
    return [plan](const KernelCall& call) {
        const std::size_t cores = call.reads.size() / 2;
        for (std::int64_t core = call.begin; core < call.end; ++core) {
            const TileBlock block = plan.block(core);
            const std::int64_t first = core * block.count;
            const auto* const dy = as<Operand>(call.reads[std::size_t(core)]);
            const auto* const x = as<Operand>(call.reads[cores + std::size_t(core)]);
            for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
                const Slice slice = slice_of(plan.filtering, plan.cut, i);
                transform_tiles(slice.tiles, block, dy + slice.first,
                                as<float>(call.writes[0] + i * bytes_of(plan.tiles())) +
                                    first * plan.cut.results_at_once);
            }
            transform_windows(plan.filtering.windows, block, x,
                              as<float>(call.writes[1]) + first * plan.filtering.windows.channels);
        }
    };
}

template <class Operand>
std::optional<StackedGradient> make_joined(const JoinedPlan& plan, int workers) {
    const auto sum = make_matmul({.lhs = transposed_view(plan.tiles(), {0, 2, 1}),
                                  .rhs = plan.windows(),
                                  .result = plan.weights()},
                                 workers);
    if (!sum) return {};
    const std::int64_t planes_bytes = bytes_of(plan.weights());
    const std::int64_t scratch_bytes =
        planes_bytes + std::max(filtered_held_bytes, sum->scratch_bytes);
    const auto run = [=, sum = *sum](const KernelCall& call) {
        std::byte* const planes = call.writes[1] + call.worker * scratch_bytes;
        std::byte* const rest = planes + planes_bytes;
        const std::byte* const windows = call.reads[call.reads.size() / 2];
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const Slice slice = slice_of(plan.filtering, plan.cut, i);
            multiply(sum, call.worker, call.reads[0] + i * bytes_of(plan.tiles()), windows, planes,
                     rest);
            restore_weights(transposed_view(slice.weights, {1, 0, 2, 3}), as<float>(planes),
                            as<float>(call.writes[0]), as<float>(rest));
        }
    };
    const Shape left{DType::f32, {plan.cut.slices * element_count(plan.tiles())}};
    return StackedGradient{.gather = make_joined_planes<Operand>(plan),
                           .left = left,
                           .right = {DType::f32, {element_count(plan.windows())}},
                           .product = {.kernel = {.kernel = run,
                                                  .scratch_bytes = scratch_bytes * workers,
                                                  .name = "filtered " + sum->name,
                                                  .packing = {}},
                                       .elements = plan.cut.slices}};
}

/// The gradient of all cores' images where the planes of all tiles stay in a worker's caches: each
/// worker transforms the windows of all cores for itself, and the tiles of some of the results'
/// channels. Nothing is gathered before.
struct DirectPlan {
    Filtering filtering;    ///< of one core
    std::int64_t count;     ///< tiles of all cores
    static constexpr std::int64_t results_at_once = filtered_channels;

    DirectPlan(const ConvolutionSpec& spec, int cores)
        : filtering(filtering_of(spec)), count(filtering.tiles.tile_count() * cores) {}

    // Planes a multiple of 1 KiB apart would share few sets of the first-level cache.
    std::int64_t rows() const { return count + 1; }
    std::int64_t windows_bytes() const {
        return bytes_of_planes(rows(), filtering.windows.channels);
    }
    std::int64_t tiles_bytes() const { return bytes_of_planes(rows(), results_at_once); }
    std::int64_t scratch_bytes() const { return windows_bytes() + tiles_bytes(); }
    std::int64_t elements() const { return filtering.tiles.channels / results_at_once; }
    /// A core's rows of the planes begin with its first one.
    std::int64_t first_row(std::size_t core) const {
        return std::int64_t(core) * filtering.tiles.tile_count();
    }
    TileBlock block() const {
        const std::int64_t tiles = filtering.tiles.tile_count();
        return {0, tiles, tiles, rows()};
    }
};

template <class Operand>
StackedGradient make_direct(const DirectPlan& plan, int workers) {
    const auto run = [plan](const KernelCall& call) {
        const std::size_t cores = call.reads.size() / 2;
        const Filtering& filtering = plan.filtering;
        std::byte* const scratch = call.writes[1] + call.worker * plan.scratch_bytes();
        auto* const windows = as<float>(scratch);
        auto* const tiles = as<float>(scratch + plan.windows_bytes());
        if (call.begin == call.end) return;
        for (std::size_t core = 0; core < cores; ++core)
            transform_windows(filtering.windows, plan.block(),
                              as<Operand>(call.reads[cores + core]),
                              windows + plan.first_row(core) * filtering.windows.channels);
        Slice slice{filtering.tiles, transposed_view(filtering.weights, {1, 0, 2, 3})};
        slice.tiles.channels = slice.weights.dims[0] = plan.results_at_once;
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            for (std::size_t core = 0; core < cores; ++core)
                transform_tiles(slice.tiles, plan.block(),
                                as<Operand>(call.reads[core]) + i * plan.results_at_once,
                                tiles + plan.first_row(core) * plan.results_at_once);
            slice.weights.offset =
                filtering.weights.offset + i * plan.results_at_once * slice.weights.strides[0];
            multiply_and_restore(
                slice.weights,
                {.tiles = tiles, .windows = windows, .count = plan.count, .rows = plan.rows()},
                as<float>(call.writes[0]));
        }
    };
    return {.gather = {},
            .left = {},
            .right = {},
            .product = {.kernel = {.kernel = run,
                                   .scratch_bytes = plan.scratch_bytes() * workers,
                                   .name = "filtered",
                                   .packing = {}},
                        .elements = plan.elements()}};
}

}    // namespace

std::optional<LibraryKernel> make_filtered_convolution(const ConvolutionSpec& spec, int workers,
                                                       const FilteringLimits& limits) {
    if (!applies(spec, limits) || !pays(spec, filtering_of(spec), limits)) return {};
    const bool is_wide = spec.results == DType::f32;
    if (spec.operands == DType::f32)
        return is_wide ? make_of<float, float>(spec, limits, workers)
                       : make_of<float, BFloat16>(spec, limits, workers);
    return is_wide ? make_of<BFloat16, float>(spec, limits, workers)
                   : make_of<BFloat16, BFloat16>(spec, limits, workers);
}

std::optional<StackedGradient> make_filtered_gradient(const ConvolutionSpec& spec, int cores,
                                                      int workers, const FilteringLimits& limits) {
    ConvolutionSpec all = spec;
    all.x.dims[0] *= cores;
    all.y.dims[0] *= cores;
    FilteringLimits of_all = limits;
    of_all.tiles_min *= 2;    // a product of patches of all cores is faster up to half of that
    if (!applies(spec, limits) || spec.results != DType::f32 ||
        !pays(all, filtering_of(all), of_all))
        return {};
    if (const DirectPlan direct(spec, cores); direct.scratch_bytes() <= limits.direct_bytes_max)
        return spec.operands == DType::f32 ? make_direct<float>(direct, workers)
                                           : make_direct<BFloat16>(direct, workers);
    const JoinedPlan plan(spec, cores, limits);
    return spec.operands == DType::f32 ? make_joined<float>(plan, workers)
                                       : make_joined<BFloat16>(plan, workers);
}

}    // namespace slipway
