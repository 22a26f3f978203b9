#pragma once

#include <array>
#include <cstdint>

#include "executor/codegen/kernels/view.h"

/// The linear halves of minimal filtering F(4x4, 3x3), after Lavin and Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2015. What a window of 3x3 makes of 6x6 pixels d, a tile of 4x4
/// results, is A'[(G w G') * (B' d B)]A: between the transforms are 36 products of matrices [tiles,
/// channels] x [channels, results' channels], one for each element of the 6x6, with a quarter of
/// the multiplications. The same matrices, transposed, give the gradient of w. Planes are f32;
/// images and weights are arrays of T, float or BFloat16.
namespace slipway {

inline constexpr std::int64_t filtered_rows = 4;         ///< and columns of a tile of results
inline constexpr std::int64_t filtered_planes = 36;      ///< products
inline constexpr std::int64_t filtered_channels = 16;    ///< channels come in multiples of this

/// Channels-last images [batch, extents..., channels], perhaps some of more channels; tile (i, j)
/// of each begins at row 4 i - margins[0] and column 4 j - margins[1]. Outside are zeros.
struct TiledImages {
    std::int64_t batch = 1, channels = filtered_channels;
    std::int64_t pixel_step = filtered_channels;    ///< from a pixel to the next one
    std::array<std::int64_t, 2> extents{}, tiles{}, margins{};

    std::int64_t tile_count() const { return batch * tiles[0] * tiles[1]; }
};

/// Some of the tiles, counted through all images, as planes [36, rows, channels]. Rows beyond
/// `count` are written as zeros.
struct TileBlock {
    std::int64_t first = 0, count = 0, rows = 0;
    std::int64_t plane_rows = 0;    ///< of planes that have more; 0: as many

    std::int64_t plane_step() const { return plane_rows > 0 ? plane_rows : rows; }
};

/// planes = B' d B of the 6x6 pixels from each tile's begin on.
template <class T>
void transform_windows(const TiledImages& images, const TileBlock& block, const T* from,
                       float* planes);

/// planes = A y A' of the 4x4 pixels of each tile.
template <class T>
void transform_tiles(const TiledImages& images, const TileBlock& block, const T* from,
                     float* planes);

/// The 4x4 pixels of each tile = A' m A; those outside the image are dropped.
template <class T>
void restore_tiles(const TiledImages& images, const TileBlock& block, const float* planes, T* to);

/// Some of the parts that a transform of weights may be divided into.
struct WeightsParts {
    std::int64_t begin = 0, end = 0;
};
std::int64_t weights_parts(const View& weights);

/// planes [36, operands' channels, results' channels] = G w G'. `weights` = [operands' channels,
/// results' channels, 3, 3], any strides; results' channels are a multiple of filtered_channels.
/// `held`: filtered_held_bytes of scratch memory. With `parts`: what these write of the planes.
template <class T>
void transform_weights(const View& weights, const T* from, float* planes, float* held);
template <class T>
void transform_weights(const View& weights, const WeightsParts& parts, const T* from, float* planes,
                       float* held);

/// The gradient of the weights = G' m G, from planes as above.
template <class T>
void restore_weights(const View& weights, const float* planes, T* to, float* held);

/// Planes of some tiles of dy and of their windows of x: [36, rows, channels], of which the first
/// `count` rows are taken.
struct GradientPlanes {
    const float *tiles, *windows;
    std::int64_t count = 0, rows = 0;
};

/// The gradient of the weights = G' m G, m being the products of the planes, tiles' times windows'.
/// A block of all products is transformed while it is in the first-level cache. A result's terms
/// are added in the order of the rows. `weights` = [tiles' channels, windows' channels, 3, 3];
/// both are multiples of filtered_channels.
template <class T>
void multiply_and_restore(const View& weights, const GradientPlanes& planes, T* to);

/// Elements of each plane that transform_weights and restore_weights handle at a time.
inline constexpr std::int64_t filtered_block = 1024;
inline constexpr std::int64_t filtered_held_bytes =
    filtered_planes * (filtered_block + filtered_channels) * std::int64_t(sizeof(float));

}    // namespace slipway
