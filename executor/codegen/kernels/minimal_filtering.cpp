// The transforms of Winograd's F(4x4, 3x3) as sums that share terms, not as products with matrices:
// each of the functions times_… multiplies by a constant matrix along one dimension, and a
// transform calls it for rows, then for columns. Channels are the last dimension of an image, so a
// vector holds 16 channels of one pixel and nothing has to be shuffled. The matmuls between the
// transforms are the library's (filtered_convolution.cpp).
//
// Tried instead: the library's own filtering, which wants its blocked format (docs/decisions/0010,
// with the price in accuracy), and matmuls of our own (docs/contributing/performance.md). What the
// functions keep: every number is computed in f32, also for bf16 images; pixels outside an image
// are zeros and are never written; a tile's numbers do not depend on which tiles are transformed
// with it.

#include "executor/codegen/kernels/minimal_filtering.h"

#include <algorithm>
#include <array>
#include <vector>

#include "executor/codegen/kernels/rounded_vectors.h"
#include "executor/codegen/kernels/transpose_square.h"

namespace slipway {

namespace {

constexpr int window_rows = 3, patch_rows = 6, tile_rows = int(filtered_rows);
using Channels = Floats;
static_assert(filtered_channels == floats_count);

// The matrices of interpolation at 0, 1, -1, 2, -2 and infinity, times one line.

void times_b_transposed(const Channels* d, Channels* to) {
    const Channels even = d[4] - 4.0F * d[2], odd = d[3] - 4.0F * d[1];
    const Channels even_twos = d[4] - d[2], odd_twos = 2.0F * (d[3] - d[1]);
    to[0] = 4.0F * d[0] - 5.0F * d[2] + d[4];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = even_twos + odd_twos;
    to[4] = even_twos - odd_twos;
    to[5] = 4.0F * d[1] - 5.0F * d[3] + d[5];
}

void times_a_transposed(const Channels* m, Channels* to) {
    const Channels sum = m[1] + m[2], difference = m[1] - m[2];
    const Channels sum_twos = m[3] + m[4], difference_twos = m[3] - m[4];
    to[0] = m[0] + sum + sum_twos;
    to[1] = difference + 2.0F * difference_twos;
    to[2] = sum + 4.0F * sum_twos;
    to[3] = difference + 8.0F * difference_twos + m[5];
}

void times_a(const Channels* y, Channels* to) {
    const Channels even = y[0] + y[2], odd = y[1] + y[3];
    const Channels even_twos = y[0] + 4.0F * y[2], odd_twos = 2.0F * y[1] + 8.0F * y[3];
    to[0] = y[0];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = even_twos + odd_twos;
    to[4] = even_twos - odd_twos;
    to[5] = y[3];
}

constexpr float sixth = 1.0F / 6, twelfth = 1.0F / 12, twenty_fourth = 1.0F / 24;

void times_g(const Channels* w, Channels* to) {
    const Channels even = -sixth * (w[0] + w[2]), odd = -sixth * w[1];
    const Channels even_twos = twenty_fourth * w[0] + sixth * w[2], odd_twos = twelfth * w[1];
    to[0] = 0.25F * w[0];
    to[1] = even + odd;
    to[2] = even - odd;
    to[3] = even_twos + odd_twos;
    to[4] = even_twos - odd_twos;
    to[5] = w[2];
}

void times_g_transposed(const Channels* m, Channels* to) {
    const Channels sum = m[1] + m[2], sum_twos = m[3] + m[4];
    to[0] = 0.25F * m[0] - sixth * sum + twenty_fourth * sum_twos;
    to[1] = sixth * (m[2] - m[1]) + twelfth * (m[3] - m[4]);
    to[2] = sixth * (sum_twos - sum) + m[5];
}

/// A square of [from, from] elements times a matrix from both sides: [to, to] elements. get(i) is
/// the square's element i, put(i, number) takes the result's: no loop is longer than a line, so
/// that compilers take them all apart.
template <int from, int to, void (*times)(const Channels*, Channels*)>
void transform(const auto& get, const auto& put) {
    Channels half[to * from];
    for (int column = 0; column < from; ++column) {
        Channels line[from], products[to];
        for (int row = 0; row < from; ++row)
            line[row] = get(row * from + column);
        times(line, products);
        for (int row = 0; row < to; ++row)
            half[row * from + column] = products[row];
    }
    for (int row = 0; row < to; ++row) {
        Channels products[to];
        times(half + row * from, products);
        for (int column = 0; column < to; ++column)
            put(row * to + column, products[column]);
    }
}

/// Where the pixels of a tile's square of `size` rows are; those outside the image are `outside`.
template <int size, class T>
void find_pixels(const TiledImages& images, std::int64_t tile, T* pixels, T* outside, T** places) {
    const std::int64_t tiles = images.tiles[0] * images.tiles[1], number = tile % tiles;
    const std::int64_t first_row = number / images.tiles[1] * filtered_rows - images.margins[0];
    const std::int64_t first_column = number % images.tiles[1] * filtered_rows - images.margins[1];
    T* const image =
        pixels + tile / tiles * images.extents[0] * images.extents[1] * images.pixel_step;
    for (std::int64_t row = first_row; row < first_row + size; ++row)
        for (std::int64_t column = first_column; column < first_column + size; ++column) {
            const bool is_inside =
                row >= 0 && row < images.extents[0] && column >= 0 && column < images.extents[1];
            *places++ = is_inside ? image + (row * images.extents[1] + column) * images.pixel_step
                                  : outside;
        }
}

void clear_rest(const TileBlock& block, std::int64_t channels, float* planes) {
    for (std::int64_t plane = 0; plane < filtered_planes; ++plane) {
        float* const rows = planes + plane * block.plane_step() * channels;
        std::fill(rows + block.count * channels, rows + block.rows * channels, 0.0F);
    }
}

/// planes = the squares of `size` x `size` pixels, times a matrix from both sides.
template <int size, void (*times)(const Channels*, Channels*), class T>
void transform_pixels(const TiledImages& images, const TileBlock& block, const T* from,
                      float* planes) {
    const std::vector<T> zeros(std::size_t(images.channels));
    const std::int64_t plane_step = block.plane_step() * images.channels;
    for (std::int64_t tile = 0; tile < block.count; ++tile) {
        const T* places[size * size];
        find_pixels<size>(images, block.first + tile, from, zeros.data(), places);
        float* const row = planes + tile * images.channels;
        for (std::int64_t i = 0; i < images.channels; i += filtered_channels) {
            transform<size, patch_rows, times>(
                [&](int pixel) { return load_widened(places[pixel] + i); },
                [&](int plane, const Channels& number) {
                    store(number, row + plane * plane_step + i);
                });
        }
    }
    clear_rest(block, images.channels, planes);
}

constexpr int taps = window_rows * window_rows;

/// Where the nine weights of a pair of channels are.
struct WeightPlaces {
    std::int64_t offset, operand_step, result_step;
    std::array<std::int64_t, taps> tap_offsets{};
    std::int64_t end;              ///< behind the last weight
    bool is_dense_line = false;    ///< is_line(), in order

    explicit WeightPlaces(const View& weights)
        : offset(weights.offset),
          operand_step(weights.strides[0]),
          result_step(weights.strides[1]),
          end(weights.offset + 1) {
        for (int tap = 0; tap < taps; ++tap)
            tap_offsets[std::size_t(tap)] =
                tap / window_rows * weights.strides[2] + tap % window_rows * weights.strides[3];
        for (std::size_t i = 0; i < weights.dims.size(); ++i)
            end += (weights.dims[i] - 1) * std::max<std::int64_t>(0, weights.strides[i]);
        is_dense_line = is_line() && line() == 0;
    }

    std::int64_t of(std::int64_t operand, std::int64_t result) const {
        return offset + operand * operand_step + result * result_step;
    }
    /// Where the first of a line of nine lies, in this order or turned around.
    std::int64_t line() const { return std::min<std::int64_t>(0, tap_offsets.back()); }
    bool is_line() const {
        for (int tap = 0; tap < taps; ++tap)
            if (tap_offsets[std::size_t(tap)] != (line() < 0 ? -tap : tap)) return false;
        return result_step > 0;
    }
};

/// The weights of a register full of results' channels, by tap, one by one.
template <class T>
void gather_apart(const WeightPlaces& places, const T* from, Channels* numbers) {
    float apart[taps * filtered_channels];
    for (int channel = 0; channel < filtered_channels; ++channel)
        for (int tap = 0; tap < taps; ++tap)
            apart[tap * filtered_channels + channel] =
                from[channel * places.result_step + places.tap_offsets[std::size_t(tap)]];
    for (int tap = 0; tap < taps; ++tap)
        numbers[tap] = load<Channels>(apart + tap * filtered_channels);
}

/// The same where a channel's nine are a line: sixteen lines are turned around in registers. A
/// register reads beyond its nine, so the last ones are copied first.
template <bool reversed, class T>
void gather_lines(const WeightPlaces& places, const T* weights, std::int64_t place,
                  Channels* numbers) {
    const std::int64_t first = place + places.line(), step = places.result_step;
    Channels lines[filtered_channels];
    if (first + (filtered_channels - 1) * step + filtered_channels <= places.end) {
        for (int channel = 0; channel < filtered_channels; ++channel)
            lines[channel] = load_widened(weights + first + channel * step);
    } else {
        for (int channel = 0; channel < filtered_channels; ++channel) {
            T line[filtered_channels]{};
            std::copy_n(weights + first + channel * step, taps, line);
            lines[channel] = load_widened(line);
        }
    }
    transpose_square(lines);
    for (int tap = 0; tap < taps; ++tap)
        numbers[tap] = lines[reversed ? taps - 1 - tap : tap];
}

template <class T>
void scatter_apart(const WeightPlaces& places, const Channels* numbers, T* to) {
    float apart[taps * filtered_channels];
    for (int tap = 0; tap < taps; ++tap)
        store(numbers[tap], apart + tap * filtered_channels);
    for (int channel = 0; channel < filtered_channels; ++channel)
        for (int tap = 0; tap < taps; ++tap)
            to[channel * places.result_step + places.tap_offsets[std::size_t(tap)]] =
                T(apart[tap * filtered_channels + channel]);
}

template <class T>
void scatter_lines(const WeightPlaces& places, const Channels* numbers, T* to) {
    Channels lines[filtered_channels]{};
    for (int tap = 0; tap < taps; ++tap)
        lines[tap] = numbers[tap];
    transpose_square(lines);
    // Where line follows on line, the next one overwrites what a register has beyond its nine.
    const int last = filtered_channels - 1;
    const int whole = places.result_step == taps ? last : 0;
    for (int channel = 0; channel < whole; ++channel)
        store_rounded(lines[channel], to + channel * taps);
    for (int channel = whole; channel < filtered_channels; ++channel) {
        T line[filtered_channels];
        store_rounded(lines[channel], line);
        std::copy_n(line, taps, to + channel * places.result_step);
    }
}

/// Some of the operands' and of the results' channels of all planes: as many as lie together in a
/// few pages of one plane. Those are moved before another plane's, because elements of all planes
/// at once would crowd the same few places of the caches.
struct PlaneBlock {
    std::int64_t operand, operands;    ///< the first one, and how many
    std::int64_t result, results;

    /// Between planes a line more, for the same reason.
    static constexpr std::int64_t plane_step = filtered_block + filtered_channels;
    std::int64_t place(std::int64_t plane, std::int64_t i) const {
        return plane * plane_step + i * results;
    }
};

std::int64_t operands_at_once(const View& weights) {
    return filtered_block / std::min(filtered_block, weights.dims[1]);
}

/// Calls body(block) for the blocks of some parts of the planes.
void for_each_block(const View& weights, const WeightsParts& parts, const auto& body) {
    const std::int64_t results = std::min(filtered_block, weights.dims[1]);
    const std::int64_t operands = operands_at_once(weights);
    const std::int64_t end = std::min(parts.end * operands, weights.dims[0]);
    for (std::int64_t operand = parts.begin * operands; operand < end; operand += operands)
        for (std::int64_t result = 0; result < weights.dims[1]; result += results)
            body(PlaneBlock{operand, std::min(operands, weights.dims[0] - operand), result,
                            std::min(results, weights.dims[1] - result)});
}

WeightsParts all_parts(const View& weights) {
    return {0, weights_parts(weights)};
}

/// Calls body(place in the planes, place in the block) for each plane: what a block has of it is
/// one line, since it has all results' channels, or only one of the operands'.
void for_each_line(const View& weights, const PlaneBlock& block, const auto& body) {
    for (std::int64_t plane = 0; plane < filtered_planes; ++plane)
        body((plane * weights.dims[0] + block.operand) * weights.dims[1] + block.result,
             block.place(plane, 0));
}

/// Rows of a block of products; with two registers of columns all its planes take 36 KB.
constexpr int block_rows = 8;

/// block_rows x (registers of columns) sums over the tiles of one plane.
template <int registers>
void multiply_block(const float* tiles, std::int64_t tiles_step, const float* windows,
                    std::int64_t windows_step, std::int64_t count, float* to) {
    Channels sums[block_rows][registers] = {};
    for (std::int64_t tile = 0; tile < count; ++tile) {
        Channels line[registers];
        for (int i = 0; i < registers; ++i)
            line[i] = load<Channels>(windows + tile * windows_step + i * filtered_channels);
        for (int row = 0; row < block_rows; ++row) {
            const float number = tiles[tile * tiles_step + row];
            for (int i = 0; i < registers; ++i)
                sums[row][i] += number * line[i];
        }
    }
    for (int row = 0; row < block_rows; ++row)
        for (int i = 0; i < registers; ++i)
            store(sums[row][i], to + (row * registers + i) * filtered_channels);
}

/// The weights of one register of windows' channels, from that register of each plane.
template <class T>
void restore_register(const WeightPlaces& places, const float* planes, std::int64_t plane_step,
                      T* to) {
    Channels numbers[taps];
    transform<patch_rows, window_rows, times_g_transposed>(
        [&](int plane) { return load<Channels>(planes + plane * plane_step); },
        [&](int tap, const Channels& number) { numbers[tap] = number; });
    if (places.is_dense_line)
        scatter_lines(places, numbers, to);
    else
        scatter_apart(places, numbers, to);
}

template <int registers, class T>
void restore_block(const View& weights, const GradientPlanes& planes, std::int64_t row,
                   std::int64_t column, T* to) {
    constexpr std::int64_t width = registers * filtered_channels, count = block_rows * width;
    const WeightPlaces places{weights};
    const std::int64_t rows = weights.dims[0], columns = weights.dims[1];
    alignas(64) float products[filtered_planes * count];
    for (std::int64_t plane = 0; plane < filtered_planes; ++plane)
        multiply_block<registers>(planes.tiles + plane * planes.rows * rows + row, rows,
                                  planes.windows + plane * planes.rows * columns + column, columns,
                                  planes.count, products + plane * count);
    for (std::int64_t i = 0; i < block_rows; ++i)
        for (std::int64_t k = 0; k < width; k += filtered_channels)
            restore_register(places, products + i * width + k, count,
                             to + places.of(row + i, column + k));
}

}    // namespace

template <class T>
void transform_windows(const TiledImages& images, const TileBlock& block, const T* from,
                       float* planes) {
    transform_pixels<patch_rows, times_b_transposed>(images, block, from, planes);
}

template <class T>
void transform_tiles(const TiledImages& images, const TileBlock& block, const T* from,
                     float* planes) {
    transform_pixels<tile_rows, times_a>(images, block, from, planes);
}

template <class T>
void restore_tiles(const TiledImages& images, const TileBlock& block, const float* planes, T* to) {
    std::vector<T> dropped(std::size_t(images.channels));
    const std::int64_t plane_step = block.plane_step() * images.channels;
    for (std::int64_t tile = 0; tile < block.count; ++tile) {
        T* places[tile_rows * tile_rows];
        find_pixels<tile_rows>(images, block.first + tile, to, dropped.data(), places);
        const float* const row = planes + tile * images.channels;
        for (std::int64_t i = 0; i < images.channels; i += filtered_channels) {
            transform<patch_rows, tile_rows, times_a_transposed>(
                [&](int plane) { return load<Channels>(row + plane * plane_step + i); },
                [&](int pixel, const Channels& number) {
                    store_rounded(number, places[pixel] + i);
                });
        }
    }
}

std::int64_t weights_parts(const View& weights) {
    const std::int64_t operands = operands_at_once(weights);
    return (weights.dims[0] + operands - 1) / operands;
}

template <class T>
void transform_weights(const View& weights, const T* from, float* planes, float* held) {
    transform_weights(weights, all_parts(weights), from, planes, held);
}

template <class T>
void transform_weights(const View& weights, const WeightsParts& parts, const T* from, float* planes,
                       float* held) {
    const WeightPlaces places{weights};
    const bool is_line = places.is_line(), is_reversed = places.line() < 0;
    for_each_block(weights, parts, [&](const PlaneBlock& block) {
        for (std::int64_t i = 0; i < block.operands; ++i)
            for (std::int64_t k = 0; k < block.results; k += filtered_channels) {
                const std::int64_t place = places.of(block.operand + i, block.result + k);
                Channels numbers[taps];
                if (!is_line)
                    gather_apart(places, from + place, numbers);
                else if (is_reversed)
                    gather_lines<true>(places, from, place, numbers);
                else
                    gather_lines<false>(places, from, place, numbers);
                float* const column = held + block.place(0, i) + k;
                transform<window_rows, patch_rows, times_g>(
                    [&](int tap) { return numbers[tap]; },
                    [&](int plane, const Channels& number) {
                        store(number, column + plane * PlaneBlock::plane_step);
                    });
            }
        for_each_line(weights, block, [&](std::int64_t line, std::int64_t place) {
            std::copy_n(held + place, block.operands * block.results, planes + line);
        });
    });
}

template <class T>
void restore_weights(const View& weights, const float* planes, T* to, float* held) {
    const WeightPlaces places{weights};
    for_each_block(weights, all_parts(weights), [&](const PlaneBlock& block) {
        for_each_line(weights, block, [&](std::int64_t line, std::int64_t place) {
            std::copy_n(planes + line, block.operands * block.results, held + place);
        });
        for (std::int64_t i = 0; i < block.operands; ++i)
            for (std::int64_t k = 0; k < block.results; k += filtered_channels)
                restore_register(places, held + block.place(0, i) + k, PlaneBlock::plane_step,
                                 to + places.of(block.operand + i, block.result + k));
    });
}

template <class T>
void multiply_and_restore(const View& weights, const GradientPlanes& planes, T* to) {
    constexpr std::int64_t wide = 2 * filtered_channels;
    const std::int64_t columns = weights.dims[1], wide_end = columns / wide * wide;
    // A block's columns of the windows are read again for the next rows, from a nearby cache.
    for (std::int64_t column = 0; column < wide_end; column += wide)
        for (std::int64_t row = 0; row < weights.dims[0]; row += block_rows)
            restore_block<2>(weights, planes, row, column, to);
    if (wide_end == columns) return;
    for (std::int64_t row = 0; row < weights.dims[0]; row += block_rows)
        restore_block<1>(weights, planes, row, wide_end, to);
}

template void transform_windows(const TiledImages&, const TileBlock&, const float*, float*);
template void transform_tiles(const TiledImages&, const TileBlock&, const float*, float*);
template void restore_tiles(const TiledImages&, const TileBlock&, const float*, float*);
template void transform_weights(const View&, const float*, float*, float*);
template void transform_weights(const View&, const WeightsParts&, const float*, float*, float*);
template void restore_weights(const View&, const float*, float*, float*);
template void multiply_and_restore(const View&, const GradientPlanes&, float*);

template void transform_windows(const TiledImages&, const TileBlock&, const BFloat16*, float*);
template void transform_tiles(const TiledImages&, const TileBlock&, const BFloat16*, float*);
template void restore_tiles(const TiledImages&, const TileBlock&, const float*, BFloat16*);
template void transform_weights(const View&, const BFloat16*, float*, float*);
template void transform_weights(const View&, const WeightsParts&, const BFloat16*, float*, float*);
template void restore_weights(const View&, const float*, BFloat16*, float*);
template void multiply_and_restore(const View&, const GradientPlanes&, BFloat16*);

}    // namespace slipway
