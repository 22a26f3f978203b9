#include "executor/codegen/kernels/channel_pool.h"

#include <algorithm>
#include <cstring>

namespace slipway {

namespace {

template <int width>
using Floats [[gnu::vector_size(width * sizeof(float))]] = float;
template <int width>
using Places [[gnu::vector_size(width * sizeof(float))]] = std::int32_t;

template <class Vector, class Number>
Vector load(const Number* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}

template <class Vector>
void store(const Vector& vector, float* to) {
    std::memcpy(to, &vector, sizeof vector);
}

template <class Number>
auto is_above(const Number& x, const Number& largest) {
    return (x > largest) | ((x != x) & (largest == largest));
}

/// Calls chunk.operator()<Number, Place>(begin) for parts of 0..n that do not overlap.
template <class Chunk>
void in_parts(std::int64_t n, Chunk&& chunk) {
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16)
        chunk.template operator()<Floats<16>, Places<16>>(i);
    if (i + 8 <= n) {
        chunk.template operator()<Floats<8>, Places<8>>(i);
        i += 8;
    }
    if (i + 4 <= n) {
        chunk.template operator()<Floats<4>, Places<4>>(i);
        i += 4;
    }
    for (; i < n; ++i)
        chunk.template operator()<float, std::int32_t>(i);
}

/// The elements of a dimension that a window sees: `count` of them, `step` apart.
struct Seen {
    std::int64_t first = 0, step = 1, count = 0;
};

Seen seen_by(const WindowDimension& w, std::int64_t extent, std::int64_t position) {
    const std::int64_t begin = position * w.stride - w.padding_low;
    const std::int64_t step = w.window_dilation;
    const std::int64_t skipped = begin >= 0 ? 0 : (-begin + step - 1) / step;
    const std::int64_t left = extent - 1 - begin;
    const std::int64_t last = left < 0 ? 0 : std::min(w.size, left / step + 1);
    return {begin + skipped * step, step, std::max<std::int64_t>(0, last - skipped)};
}

/// Calls body(window number, offsets of the elements it sees, row-major) for every window.
template <class Body>
void for_each_window(const ChannelPool& pool, Body&& body) {
    std::vector<Seen> columns;
    for (std::int64_t x = 0; x < pool.column_positions; ++x)
        columns.push_back(seen_by(pool.column_window, pool.columns, x));
    std::vector<std::int64_t> offsets(std::size_t(pool.row_window.size * pool.column_window.size));
    std::int64_t window = 0;
    for (std::int64_t image = 0; image < pool.batch; ++image)
        for (std::int64_t y = 0; y < pool.row_positions; ++y) {
            const Seen rows = seen_by(pool.row_window, pool.rows, y);
            for (const Seen& column : columns) {
                std::size_t count = 0;
                for (std::int64_t i = 0; i < rows.count; ++i) {
                    const std::int64_t row =
                        (image * pool.rows + rows.first + i * rows.step) * pool.columns;
                    for (std::int64_t k = 0; k < column.count; ++k)
                        offsets[count++] = (row + column.first + k * column.step) * pool.channels;
                }
                body(window++, offsets.data(), count);
            }
        }
}

/// Whether the windows lie side by side along a dimension and see all of it.
bool covers_once(const WindowDimension& w, std::int64_t extent, std::int64_t positions) {
    return w.stride == w.size && w.window_dilation == 1 && w.padding_low == 0 &&
           positions * w.stride == extent;
}

/// Which of the elements at `offsets` is the first largest, channel by channel.
template <class Number, class Place>
Place place_of_largest(const float* from, const std::int64_t* offsets, std::size_t count) {
    auto largest = load<Number>(from + offsets[0]);
    Place place{};
    for (std::size_t k = 1; k < count; ++k) {
        const auto value = load<Number>(from + offsets[k]);
        const auto above = is_above(value, largest);
        largest = above ? value : largest;
        place = above ? Place{} + std::int32_t(k) : place;
    }
    return place;
}

/// Adds to what is there, or is the first and only one to write it.
template <bool adds>
void scatter_windows(const ChannelPool& pool, const float* input, const float* source, float* to) {
    for_each_window(pool, [&](std::int64_t window, const std::int64_t* offsets, std::size_t count) {
        const float* const terms = source + window * pool.channels;
        in_parts(pool.channels, [&]<class Number, class Place>(std::int64_t i) {
            const auto place = place_of_largest<Number, Place>(input + i, offsets, count);
            const auto term = load<Number>(terms + i);
            for (std::size_t k = 0; k < count; ++k) {
                float* const target = to + offsets[k] + i;
                const auto chosen = place == Place{} + std::int32_t(k);
                const auto added = chosen ? term : Number{};
                // A sum begins with 0: that of -0 is 0.
                store((adds ? load<Number>(target) : Number{}) + added, target);
            }
        });
    });
}

}    // namespace

std::optional<ChannelPool> channel_pool_of(const Dims& operand,
                                           const std::vector<WindowDimension>& window,
                                           const Dims& result) {
    if (operand.size() != 4 || window[0] != WindowDimension{} || window[3] != WindowDimension{})
        return {};
    const ChannelPool pool{operand[0], operand[1], operand[2], operand[3],
                           window[1],  window[2],  result[1],  result[2]};
    if (pool.row_window.base_dilation != 1 || pool.column_window.base_dilation != 1) return {};
    for (std::int64_t y = 0; y < pool.row_positions; ++y)
        if (seen_by(pool.row_window, pool.rows, y).count == 0) return {};
    for (std::int64_t x = 0; x < pool.column_positions; ++x)
        if (seen_by(pool.column_window, pool.columns, x).count == 0) return {};
    return pool;
}

void largest_of_windows(const ChannelPool& pool, const float* from, float* to) {
    for_each_window(pool, [&](std::int64_t window, const std::int64_t* offsets, std::size_t count) {
        float* const target = to + window * pool.channels;
        in_parts(pool.channels, [&]<class Number, class Place>(std::int64_t i) {
            auto largest = load<Number>(from + offsets[0] + i);
            for (std::size_t k = 1; k < count; ++k) {
                const auto value = load<Number>(from + offsets[k] + i);
                largest = is_above(value, largest) ? value : largest;
            }
            store(largest, target + i);
        });
    });
}

void scatter_to_largest(const ChannelPool& pool, const float* input, const float* source,
                        float* to) {
    if (covers_once(pool.row_window, pool.rows, pool.row_positions) &&
        covers_once(pool.column_window, pool.columns, pool.column_positions))
        return scatter_windows<false>(pool, input, source, to);
    std::fill_n(to, pool.batch * pool.rows * pool.columns * pool.channels, 0.0F);
    scatter_windows<true>(pool, input, source, to);
}

}    // namespace slipway
