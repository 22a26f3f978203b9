// Workers share the results' channels, slice by slice, whose number depends on shapes alone: so
// bits do not depend on the number of workers. Where all planes stay in a worker's caches each
// worker makes them for itself (docs/decisions/0094). More are gathered first. Where these would be
// read from memory, each worker makes a block of them at a time and adds what comes out to planes
// of sums, if those stay in its caches (docs/decisions/0096).
#include "executor/codegen/filtered_gradient.h"

#include <algorithm>
#include <limits>

#include "executor/codegen/kernels/minimal_filtering.h"
#include "executor/codegen/onednn/matmul.h"

namespace slipway {

namespace {

/// The images of all cores as those of one.
ConvolutionSpec spec_of_all(ConvolutionSpec spec, int cores) {
    spec.x.dims[0] *= cores;
    spec.y.dims[0] *= cores;
    return spec;
}

/// Of the planes of the results' channels that are done at once, so that workers can share them.
std::int64_t slice_bytes(const Filtering& filtering) {
    constexpr std::int64_t slices_wanted = 4, narrow = 32;
    return planes_bytes(filtering.windows.channels,
                        std::max(narrow, filtering.tiles.channels / slices_wanted));
}

/// How the gradient of all cores' images is made: the planes of all tiles, [36, rows, channels],
/// the results' channels in slices, each with planes of its own. The filtering is one core's, the
/// cut that of all: one block.
struct JoinedPlan : FilteringPlan {
    JoinedPlan(const ConvolutionSpec& spec, int cores, const FilteringLimits& limits)
        : FilteringPlan{filtering_of(spec), {}} {
        FilteringLimits of_all = filtering_limits_for(spec, limits);
        of_all.tiles_at_once = filtering.tiles.tile_count() * cores;
        of_all.windows_bytes_max = std::numeric_limits<std::int64_t>::max();
        of_all.weights_bytes_max = std::min(of_all.weights_bytes_max, slice_bytes(filtering));
        cut = cut_of(filtering_of(spec_of_all(spec, cores)), of_all);
    }

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
            const auto* const dy = array_at<Operand>(call.reads[std::size_t(core)]);
            const auto* const x = array_at<Operand>(call.reads[cores + std::size_t(core)]);
            for (std::int64_t i = 0; i < plan.cut.slices; ++i) {
                const FilteringSlice slice = slice_of(plan.filtering, plan.cut, i);
                transform_tiles(slice.tiles, block, dy + slice.first,
                                array_at<float>(call.writes[0] + i * planes_bytes(plan.tiles())) +
                                    first * plan.cut.results_at_once);
            }
            transform_windows(
                plan.filtering.windows, block, x,
                array_at<float>(call.writes[1]) + first * plan.filtering.windows.channels);
        }
    };
}

template <class Operand>
std::optional<StackedGradient> make_joined(const JoinedPlan& plan, int workers) {
    const auto sum = make_gradient_product(plan, false, workers);
    if (!sum) return {};
    const std::int64_t sums_bytes = planes_bytes(plan.gradient());
    const std::int64_t scratch_bytes =
        sums_bytes + std::max(filtered_held_bytes, sum->scratch_bytes);
    const auto run = [=, sum = *sum](const KernelCall& call) {
        std::byte* const planes = call.writes[1] + call.worker * scratch_bytes;
        std::byte* const rest = planes + sums_bytes;
        const std::byte* const windows = call.reads[call.reads.size() / 2];
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            const FilteringSlice slice = slice_of(plan.filtering, plan.cut, i);
            multiply_planes(sum, call.worker, call.reads[0] + i * planes_bytes(plan.tiles()),
                            windows, planes, rest);
            restore_weights(transposed_view(slice.weights, {1, 0, 2, 3}), array_at<float>(planes),
                            array_at<float>(call.writes[0]), array_at<float>(rest));
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
    std::int64_t windows_bytes() const { return planes_bytes(rows(), filtering.windows.channels); }
    std::int64_t tiles_bytes() const { return planes_bytes(rows(), results_at_once); }
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
        auto* const windows = array_at<float>(scratch);
        auto* const tiles = array_at<float>(scratch + plan.windows_bytes());
        if (call.begin == call.end) return;
        for (std::size_t core = 0; core < cores; ++core)
            transform_windows(filtering.windows, plan.block(),
                              array_at<Operand>(call.reads[cores + core]),
                              windows + plan.first_row(core) * filtering.windows.channels);
        FilteringSlice slice{filtering.tiles, transposed_view(filtering.weights, {1, 0, 2, 3})};
        slice.tiles.channels = slice.weights.dims[0] = plan.results_at_once;
        for (std::int64_t i = call.begin; i < call.end; ++i) {
            for (std::size_t core = 0; core < cores; ++core)
                transform_tiles(slice.tiles, plan.block(),
                                array_at<Operand>(call.reads[core]) + i * plan.results_at_once,
                                tiles + plan.first_row(core) * plan.results_at_once);
            slice.weights.offset =
                filtering.weights.offset + i * plan.results_at_once * slice.weights.strides[0];
            multiply_and_restore(
                slice.weights,
                {.tiles = tiles, .windows = windows, .count = plan.count, .rows = plan.rows()},
                array_at<float>(call.writes[0]));
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

/// The gradient of all cores' images where the planes of all tiles are too many for a worker's
/// caches: each worker goes through the tiles of all cores block by block, and adds what its
/// results' channels get to planes of sums. The filtering is one core's, the cut that of all.
struct BlockPlan : FilteringPlan {
    std::int64_t slices_at_once;

    BlockPlan(const ConvolutionSpec& spec, int cores, int workers, const FilteringLimits& limits)
        : FilteringPlan{filtering_of(spec), {}} {
        FilteringLimits of_all = limits;
        of_all.tiles_at_once /= 2;    // the sums want room beside them
        cut = cut_of(filtering_of(spec_of_all(spec, cores)), of_all);
        // As narrow as can be: eight workers share 128 channels, and two are as fast as with 64.
        cut.results_at_once = filtered_channels;
        cut.slices = filtering.tiles.channels / filtered_channels;
        slices_at_once = (cut.slices + workers - 1) / workers;
    }

    /// Calls body(core, some of its tiles, the row of the planes that they begin with) for a block.
    void for_each_core(std::int64_t number, const auto& body) const {
        const TileBlock all = cut.block(number);
        const std::int64_t tiles = filtering.tiles.tile_count();
        for (std::int64_t row = 0; row < all.count;) {
            const std::int64_t core = (all.first + row) / tiles, first = (all.first + row) % tiles;
            const std::int64_t count = std::min(tiles - first, all.count - row);
            const bool is_last = row + count == all.count;
            body(std::size_t(core),
                 TileBlock{first, count, is_last ? cut.rows - row : count, cut.rows}, row);
            row += count;
        }
    }
};

/// Where planes of all tiles would be read from memory, and the sums stay in the caches. ResNet-34
/// of 128 px in bf16, 32 images on one core, gradients of 128 channels of 16x16 (19 MB of planes),
/// ms of CPU time of a step: 504 gathered, 483 in blocks of 32 tiles, 490 of 64. With 256 channels
/// of 8x8 (9.4 MB of planes and as much of sums) blocks take 1 % more.
bool is_better_in_blocks(const ConvolutionSpec& all, const FilteringLimits& limits) {
    const Filtering filtering = filtering_of(all);
    const std::int64_t windows = filtering.windows.channels, results = filtering.tiles.channels;
    return planes_bytes(filtering.tiles.tile_count(), windows + results) >
               limits.gathered_bytes_max &&
           planes_bytes(windows, results) <= limits.weights_bytes_max;
}

template <class Operand>
std::optional<StackedGradient> make_in_blocks(const BlockPlan& plan, int workers) {
    const auto first = make_gradient_product(plan, false, workers);
    const auto next = make_gradient_product(plan, true, workers);
    if (!first || !next) return {};
    const std::int64_t sums_bytes = planes_bytes(plan.gradient());
    const std::int64_t rest_bytes =
        std::max({filtered_held_bytes, first->scratch_bytes, next->scratch_bytes});
    const std::int64_t scratch_bytes = planes_bytes(plan.windows()) + planes_bytes(plan.tiles()) +
                                       plan.slices_at_once * sums_bytes + rest_bytes;
    const auto run = [=, first = *first, next = *next](const KernelCall& call) {
        const std::size_t cores = call.reads.size() / 2;
        std::byte* const windows = call.writes[1] + call.worker * scratch_bytes;
        std::byte* const tiles = windows + planes_bytes(plan.windows());
        std::byte* const sums = tiles + planes_bytes(plan.tiles());
        std::byte* const rest = sums + plan.slices_at_once * sums_bytes;
        for (std::int64_t begin = call.begin; begin < call.end; begin += plan.slices_at_once) {
            const std::int64_t end = std::min(begin + plan.slices_at_once, call.end);
            for (std::int64_t block = 0; block < plan.cut.blocks(); ++block) {
                plan.for_each_core(block, [&](std::size_t core, const TileBlock& some, auto row) {
                    transform_windows(
                        plan.filtering.windows, some, array_at<Operand>(call.reads[cores + core]),
                        array_at<float>(windows) + row * plan.filtering.windows.channels);
                });
                for (std::int64_t i = begin; i < end; ++i) {
                    const FilteringSlice slice = slice_of(plan.filtering, plan.cut, i);
                    plan.for_each_core(block, [&](std::size_t core, const TileBlock& some,
                                                  auto row) {
                        transform_tiles(slice.tiles, some,
                                        array_at<Operand>(call.reads[core]) + slice.first,
                                        array_at<float>(tiles) + row * plan.cut.results_at_once);
                    });
                    multiply_planes(block == 0 ? first : next, call.worker, tiles, windows,
                                    sums + (i - begin) * sums_bytes, rest);
                }
            }
            for (std::int64_t i = begin; i < end; ++i)
                restore_weights(
                    transposed_view(slice_of(plan.filtering, plan.cut, i).weights, {1, 0, 2, 3}),
                    array_at<float>(sums + (i - begin) * sums_bytes),
                    array_at<float>(call.writes[0]), array_at<float>(rest));
        }
    };
    return StackedGradient{.gather = {},
                           .left = {},
                           .right = {},
                           .product = {.kernel = {.kernel = run,
                                                  .scratch_bytes = scratch_bytes * workers,
                                                  .name = "filtered " + first->name,
                                                  .packing = {}},
                                       .elements = plan.cut.slices}};
}

}    // namespace

std::optional<StackedGradient> make_filtered_gradient(const ConvolutionSpec& spec, int cores,
                                                      int workers, const FilteringLimits& limits) {
    const ConvolutionSpec all = spec_of_all(spec, cores);
    FilteringLimits of_all = limits;
    of_all.tiles_min *= 2;    // a product of patches of all cores is faster up to half of that
    if (!filtering_applies(spec, limits) || spec.results != DType::f32 ||
        !filtering_pays(all, filtering_of(all), of_all))
        return {};
    if (const DirectPlan direct(spec, cores); direct.scratch_bytes() <= limits.direct_bytes_max)
        return spec.operands == DType::f32 ? make_direct<float>(direct, workers)
                                           : make_direct<BFloat16>(direct, workers);
    if (is_better_in_blocks(all, limits)) {
        const BlockPlan blocks(spec, cores, workers, limits);
        return spec.operands == DType::f32 ? make_in_blocks<float>(blocks, workers)
                                           : make_in_blocks<BFloat16>(blocks, workers);
    }
    const JoinedPlan plan(spec, cores, limits);
    return spec.operands == DType::f32 ? make_joined<float>(plan, workers)
                                       : make_joined<BFloat16>(plan, workers);
}

}    // namespace slipway
