#include "executor/codegen/kernels/channel_pool.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "executor/codegen/kernels/vectors.h"

// Channels lie innermost, so a window is a handful of offsets and each of them a run of channels:
// the largest of a window is taken lane by lane, over as many channels as a register holds. The
// offsets of a row of windows are computed once. Of equal elements the first counts, as in the
// naive evaluator, which for bf16 needs an order on bits: that of signed integers, with -0 equal to
// 0 and NaN above all. Windows that cover each element once write the gradient; those that overlap
// add to zeros.
namespace slipway {

namespace {

/// How the numbers of a type lie in registers, and which integers count places beside them.
template <class T>
struct Lanes;

template <>
struct Lanes<float> {
    using Number = float;
    using Place = std::int32_t;
};

/// bf16 numbers by their bits: twice as many as f32 in a register.
template <>
struct Lanes<BFloat16> {
    using Number = std::int16_t;
    using Place = std::int16_t;
};

/// What orders numbers. That of bf16: the signed bits, but -0 is 0 and every NaN the largest.
template <class T, class Number>
Number order_of(const Number& x) {
    if constexpr (std::is_same_v<T, float>) {
        return x;
    } else {
        const auto magnitude = static_cast<Number>(x & 0x7fff);
        const auto order = static_cast<Number>(x < 0 ? static_cast<Number>(-magnitude) : x);
        return magnitude > 0x7f80 ? static_cast<Number>(Number{} + 0x7fff) : order;
    }
}

template <class T, class Number>
auto is_above(const Number& order, const Number& largest) {
    if constexpr (std::is_same_v<T, float>)
        return (order > largest) | ((order != order) & (largest == largest));
    else
        return order > largest;
}

/// 0 + x: that of -0 is 0.
template <class T, class Number>
Number added_to_zero(const Number& x) {
    if constexpr (std::is_same_v<T, float>)
        return Number{} + x;
    else
        return x == std::numeric_limits<std::int16_t>::min() ? Number{} : x;
}

/// Calls chunk.operator()<Number, Place>(begin) for parts of 0..n. They overlap only if they may:
/// channels that fill no register are then taken with some before them once more instead of one by
/// one.
template <class T, bool may_overlap, class Chunk>
void in_parts(std::int64_t n, Chunk&& chunk) {
    using Number = Lanes<T>::Number;
    using Place = Lanes<T>::Place;
    constexpr int whole = register_bytes / sizeof(Number);
    std::int64_t i = 0;
    const auto take = [&]<int width>(std::integral_constant<int, width>) {
        const bool fits = i + width <= n;
        if (!fits && !(may_overlap && width == whole / 4 && i < n && width <= n)) return;
        const std::int64_t begin = fits ? i : n - width;
        chunk.template operator()<Vector<Number, width>, Vector<Place, width>>(begin);
        i = begin + width;
    };
    while (i + whole <= n)
        take(std::integral_constant<int, whole>{});
    take(std::integral_constant<int, whole / 2>{});
    take(std::integral_constant<int, whole / 4>{});
    take(std::integral_constant<int, whole / 4>{});
    for (; i < n; ++i)
        chunk.template operator()<Number, Place>(i);
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

/// The elements that each window of a row of windows sees, row-major, from the row's first element
/// on. They are the same for all rows of windows but those at the edges.
class RowOfWindows {
public:
    explicit RowOfWindows(const ChannelPool& pool)
        : pool_(pool), most_(pool.row_window.size * pool.column_window.size) {
        for (std::int64_t x = 0; x < pool.column_positions; ++x)
            columns_.push_back(seen_by(pool.column_window, pool.columns, x));
        offsets_.resize(columns_.size() * std::size_t(most_));
    }

    void see(std::int64_t rows) {
        if (rows == rows_) return;
        rows_ = rows;
        for (std::size_t x = 0; x < columns_.size(); ++x) {
            std::int64_t* offset = offsets_.data() + x * std::size_t(most_);
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t k = 0; k < columns_[x].count; ++k) {
                    const std::int64_t row = i * pool_.row_window.window_dilation * pool_.columns;
                    const std::int64_t column = columns_[x].first + k * columns_[x].step;
                    *offset++ = (row + column) * pool_.channels;
                }
        }
    }

    const std::int64_t* offsets(std::size_t x) const {
        return offsets_.data() + x * std::size_t(most_);
    }
    std::size_t count(std::size_t x) const { return std::size_t(rows_ * columns_[x].count); }

private:
    const ChannelPool& pool_;
    std::int64_t most_;
    std::int64_t rows_ = -1;
    std::vector<Seen> columns_;
    std::vector<std::int64_t> offsets_;
};

/// Calls body(window number, first element, offsets from it, how many) for every window.
template <class Body>
void for_each_window(const ChannelPool& pool, Body&& body) {
    RowOfWindows windows(pool);
    std::int64_t window = 0;
    for (std::int64_t image = 0; image < pool.batch; ++image)
        for (std::int64_t y = 0; y < pool.row_positions; ++y) {
            const Seen rows = seen_by(pool.row_window, pool.rows, y);
            windows.see(rows.count);
            const std::int64_t first =
                (image * pool.rows + rows.first) * pool.columns * pool.channels;
            for (std::size_t x = 0; x < std::size_t(pool.column_positions); ++x)
                body(window++, first, windows.offsets(x), windows.count(x));
        }
}

/// The commonest count as a constant: its loops are taken apart.
template <class Call>
void with_count(std::size_t count, Call&& call) {
    if (count == 4) return call(std::integral_constant<std::size_t, 4>{});
    call(count);
}

/// Whether the windows lie side by side along a dimension and see all of it.
bool covers_once(const WindowDimension& w, std::int64_t extent, std::int64_t positions) {
    return w.stride == w.size && w.window_dilation == 1 && w.padding_low == 0 &&
           positions * w.stride == extent;
}

/// Which of the elements at `offsets` is the first largest, channel by channel.
template <class Number, class Place, class T, class Count>
Place place_of_largest(const T* from, const std::int64_t* offsets, Count count) {
    auto largest = order_of<T>(load<Number>(from + offsets[0]));
    Place place{};
    for (std::size_t k = 1; k < count; ++k) {
        const auto order = order_of<T>(load<Number>(from + offsets[k]));
        const auto above = is_above<T>(order, largest);
        largest = above ? order : largest;
        place = above ? static_cast<Place>(Place{} + std::int16_t(k)) : place;
    }
    return place;
}

/// Adds to what is there, or is the first and only one to write it.
template <bool adds, class T>
void scatter_windows(const ChannelPool& pool, const T* input, const T* source, T* to) {
    for_each_window(pool, [&](std::int64_t window, std::int64_t first, const std::int64_t* offsets,
                              std::size_t count) {
        const T* const terms = source + window * pool.channels;
        with_count(count, [&](auto elements) {
            in_parts<T, !adds>(pool.channels, [&]<class Number, class Place>(std::int64_t i) {
                const auto place =
                    place_of_largest<Number, Place>(input + first + i, offsets, elements);
                const auto term = added_to_zero<T>(load<Number>(terms + i));
                for (std::size_t k = 0; k < elements; ++k) {
                    T* const target = to + first + offsets[k] + i;
                    const auto chosen = place == static_cast<Place>(Place{} + std::int16_t(k));
                    const auto added = chosen ? term : Number{};
                    if constexpr (adds)
                        store(load<Number>(target) + added, target);
                    else
                        store(added, target);
                }
            });
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

bool covers_once(const ChannelPool& pool) {
    return covers_once(pool.row_window, pool.rows, pool.row_positions) &&
           covers_once(pool.column_window, pool.columns, pool.column_positions);
}

template <class T>
void largest_of_windows(const ChannelPool& pool, const T* from, T* to) {
    for_each_window(pool, [&](std::int64_t window, std::int64_t first, const std::int64_t* offsets,
                              std::size_t count) {
        T* const target = to + window * pool.channels;
        with_count(count, [&](auto elements) {
            in_parts<T, true>(pool.channels, [&]<class Number, class Place>(std::int64_t i) {
                auto largest = load<Number>(from + first + offsets[0] + i);
                for (std::size_t k = 1; k < elements; ++k) {
                    const auto value = load<Number>(from + first + offsets[k] + i);
                    const auto above = is_above<T>(order_of<T>(value), order_of<T>(largest));
                    largest = above ? value : largest;
                }
                store(largest, target + i);
            });
        });
    });
}

template void largest_of_windows(const ChannelPool&, const float*, float*);
template void largest_of_windows(const ChannelPool&, const BFloat16*, BFloat16*);

template <class T>
void move_to_largest(const ChannelPool& pool, const T* input, const T* source, T* to) {
    scatter_windows<false>(pool, input, source, to);
}

template void move_to_largest(const ChannelPool&, const float*, const float*, float*);
template void move_to_largest(const ChannelPool&, const BFloat16*, const BFloat16*, BFloat16*);

void add_to_largest(const ChannelPool& pool, const float* input, const float* source, float* to) {
    std::fill_n(to, pool.batch * pool.rows * pool.columns * pool.channels, 0.0F);
    scatter_windows<true>(pool, input, source, to);
}

}    // namespace slipway
