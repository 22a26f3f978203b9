#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "executor/codegen/kernels/minimal_filtering.h"
#include "executor/codegen/kernels/view.h"
#include "executor/codegen/onednn/convolution.h"
#include "executor/codegen/onednn/library_kernel.h"
#include "executor/codegen/onednn/matmul.h"

/// How a convolution by minimal filtering (kernels/minimal_filtering.h) is cut into work that stays
/// in a core's second-level cache, and whether it pays. Shared by one core's convolutions and by
/// gradients of all cores.
namespace slipway {

/// From where on filtering pays, and what stays in a core's caches. Tests go lower.
struct FilteringLimits {
    /// Images and weights in bf16 as well, multiplied in f32: a quarter of the multiplications at
    /// half of bf16's rate is less, at an eighth of it (tiles) it is not.
    bool takes_bf16 = !multiplies_bf16_in_tiles();
    std::int64_t channels_min_in_bf16 = 64;
    /// Half as many for the gradient of the weights, twice as many in bf16.
    std::int64_t tiles_min = 32;
    std::int64_t tiles_at_once = 64;
    /// Of transformed weights, half as many in bf16; beyond, the results' channels are done slice
    /// by slice.
    std::int64_t weights_bytes_max = 5 << 19;
    /// Of the transformed windows of all tiles, which slices share; beyond, there is one slice.
    std::int64_t windows_bytes_max = 32 << 20;
    /// Of the planes of a gradient of weights of few tiles, which stay in a core's caches; of those
    /// of all cores' images, which each worker makes for itself; and of those that are gathered for
    /// all workers: beyond, each makes a block of them at a time.
    std::int64_t gradient_planes_bytes_max = 3 << 19;
    std::int64_t direct_bytes_max = 1 << 20;
    std::int64_t gathered_bytes_max = 8 << 20;
};

/// What is read in windows, what comes out (or its gradient) in tiles.
struct Filtering {
    TiledImages windows, tiles;
    View weights;    ///< [windows' channels, tiles' channels, 3, 3]
};

/// The gradient of the images is a convolution with the weights turned around.
/// spec  one that filtering_applies() to
Filtering filtering_of(const ConvolutionSpec& spec);

/// Types, windows, layouts and channels that the transforms can do.
bool filtering_applies(const ConvolutionSpec& spec, const FilteringLimits& limits);

/// Whether tiles enough, and full enough, pay for the transforms.
bool filtering_pays(const ConvolutionSpec& spec, const Filtering& filtering,
                    const FilteringLimits& limits);

/// Transformed weights of all layers live together: where all else takes half the memory, so do
/// they.
FilteringLimits filtering_limits_for(const ConvolutionSpec& spec, FilteringLimits limits);

/// How the work is cut so that what is read again soon stays in a core's second-level cache: the
/// tiles into blocks, and the channels of the results into slices where all weights are too many.
struct FilteringCut {
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

/// Slices as limits.weights_bytes_max says, blocks of at most limits.tiles_at_once.
FilteringCut cut_of(const Filtering& filtering, const FilteringLimits& limits);

/// Some of the results' channels.
struct FilteringSlice {
    TiledImages tiles;
    View weights;
    std::int64_t first = 0;    ///< channel
};

/// The slice `number` of cut.slices.
FilteringSlice slice_of(const Filtering& filtering, const FilteringCut& cut, std::int64_t number);

/// f32 numbers as [36, rows, columns].
View planes_view(std::int64_t rows, std::int64_t columns);
std::int64_t planes_bytes(std::int64_t rows, std::int64_t columns);
std::int64_t planes_bytes(const View& planes);

/// An array of T's.
template <class T>
T* array_at(std::byte* bytes) {
    return reinterpret_cast<T*>(bytes);
}

template <class T>
const T* array_at(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

/// A convolution or gradient and how it is cut.
struct FilteringPlan {
    Filtering filtering;
    FilteringCut cut;

    /// The planes of a block.
    View windows() const { return planes_view(cut.rows, filtering.windows.channels); }
    View tiles() const { return planes_view(cut.rows, cut.results_at_once); }
    /// The planes of a slice of a gradient.
    View gradient() const { return planes_view(cut.results_at_once, filtering.windows.channels); }
};

/// The gradient planes of a slice: a block's tiles times its windows, or that added to what is
/// there.
std::optional<LibraryKernel> make_gradient_product(const FilteringPlan& plan, bool adds,
                                                   int workers);

/// A product of planes by a kernel of the library.
void multiply_planes(const LibraryKernel& product, int worker, const std::byte* lhs,
                     const std::byte* rhs, std::byte* result, std::byte* scratch);

}    // namespace slipway
