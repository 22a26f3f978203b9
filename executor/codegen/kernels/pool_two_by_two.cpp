#include "executor/codegen/kernels/pool_two_by_two.h"

#include <algorithm>
#include <vector>

#include "executor/codegen/kernels/vectors.h"

namespace slipway {

namespace {

// Along the columns the tile is one long row, whatever the image's width: short loops would spend
// their time beginning and ending. Across the rows, chunks may overlap: they write the same twice.
constexpr std::int64_t tile_windows = 512;

/// For floats and vectors of them.
template <class Number>
auto is_above(const Number& x, const Number& largest) {
    return (x > largest) | ((x != x) & (largest == largest));
}

/// Calls chunk.operator()<Number>(begin) until 0..n is covered.
template <class Chunk>
void in_chunks(std::int64_t n, Chunk&& chunk) {
    if (n >= 16) {
        for (std::int64_t i = 0; i + 16 < n; i += 16)
            chunk.template operator()<Vector<float, 16>>(i);
        return chunk.template operator()<Vector<float, 16>>(n - 16);
    }
    if (n >= 8) {
        chunk.template operator()<Vector<float, 8>>(0);
        return chunk.template operator()<Vector<float, 8>>(n - 8);
    }
    if (n >= 4) {
        chunk.template operator()<Vector<float, 4>>(0);
        return chunk.template operator()<Vector<float, 4>>(n - 4);
    }
    for (std::int64_t i = 0; i < n; ++i)
        chunk.template operator()<float>(i);
}

/// The window rows of one tile, and scratch for two pairs per window: upper row, lower row,
/// upper...
struct Tile {
    std::vector<float> largest;
    std::vector<std::int32_t> is_second;    ///< of the pair
    std::vector<float> terms;

    explicit Tile(std::int64_t windows)
        : largest(std::size_t(2 * windows)),
          is_second(std::size_t(2 * windows)),
          terms(std::size_t(2 * windows)) {}
};

std::int64_t rows_of_tile(const PoolShape& shape) {
    return std::clamp<std::int64_t>(tile_windows / std::max<std::int64_t>(1, shape.columns), 1,
                                    std::max<std::int64_t>(1, shape.rows));
}

void larger_of_pairs(const float* __restrict from, float* __restrict largest, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
        largest[i] = is_above(from[2 * i + 1], from[2 * i]) ? from[2 * i + 1] : from[2 * i];
}

void rank_pairs(const float* __restrict from, float* __restrict largest,
                std::int32_t* __restrict is_second, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const bool second = is_above(from[2 * i + 1], from[2 * i]);
        is_second[i] = second ? 1 : 0;
        largest[i] = second ? from[2 * i + 1] : from[2 * i];
    }
}

/// The source goes to the upper or the lower pair of each window.
void choose_pairs(const float* largest, const float* source, float* terms, std::int64_t columns) {
    in_chunks(columns, [&]<class Number>(std::int64_t i) {
        const auto from = load<Number>(source + i);
        const auto lower = is_above(load<Number>(largest + columns + i), load<Number>(largest + i));
        store(lower ? Number{} : from, terms + i);
        store(lower ? from : Number{}, terms + columns + i);
    });
}

void spread_terms(const float* __restrict terms, const std::int32_t* __restrict is_second,
                  float* __restrict to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        to[2 * i] = is_second[i] != 0 ? 0 : terms[i];
        to[2 * i + 1] = is_second[i] != 0 ? terms[i] : 0;
    }
}

}    // namespace

void largest_of_four(const PoolShape& shape, const float* from, float* to) {
    const std::int64_t columns = shape.columns;
    const std::int64_t tile_rows = rows_of_tile(shape);
    std::vector<float> pairs(std::size_t(2 * tile_rows * columns));
    for (std::int64_t first = 0; first < shape.rows; first += tile_rows) {
        const std::int64_t rows = std::min(tile_rows, shape.rows - first);
        larger_of_pairs(from + 4 * first * columns, pairs.data(), 2 * rows * columns);
        for (std::int64_t row = 0; row < rows; ++row) {
            const float* const upper = pairs.data() + 2 * row * columns;
            float* const target = to + (first + row) * columns;
            in_chunks(columns, [&]<class Number>(std::int64_t i) {
                const auto x = load<Number>(upper + i);
                const auto y = load<Number>(upper + columns + i);
                store(is_above(y, x) ? y : x, target + i);
            });
        }
    }
}

void scatter_to_largest_of_four(const PoolShape& shape, const float* input, const float* source,
                                float* to) {
    const std::int64_t columns = shape.columns;
    const std::int64_t tile_rows = rows_of_tile(shape);
    Tile tile(tile_rows * columns);
    for (std::int64_t first = 0; first < shape.rows; first += tile_rows) {
        const std::int64_t rows = std::min(tile_rows, shape.rows - first);
        const std::int64_t pairs = 2 * rows * columns;
        rank_pairs(input + 4 * first * columns, tile.largest.data(), tile.is_second.data(), pairs);
        for (std::int64_t row = 0; row < rows; ++row)
            choose_pairs(tile.largest.data() + 2 * row * columns, source + (first + row) * columns,
                         tile.terms.data() + 2 * row * columns, columns);
        spread_terms(tile.terms.data(), tile.is_second.data(), to + 4 * first * columns, pairs);
    }
}

}    // namespace slipway
