// A window reduction is separable for sums, maxima and minima: first across the rows that a row
// of windows sees, element by element, then along the combined row. Rows whose windows do not
// reach along them, such as channels of channels-last images, need the first half alone, and all
// loops run over whole rows without branches. Short rows without a seam are collected into a
// tile, since a loop over a few elements spends its time beginning and ending. The gradient of a
// maximum pool finds where the largest element of each window lies without branches on values,
// which are as good as random to a branch predictor.
#include "executor/codegen/kernels/window.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "executor/codegen/kernels/channel_pool.h"
#include "executor/codegen/kernels/pool_two_by_two.h"
#include "executor/codegen/kernels/reduction.h"
#include "executor/tensor/bfloat16.h"

namespace slipway {

namespace {

/// One run of neighbouring windows that all have window element `element` inside the operand.
struct Span {
    std::int64_t first = 0, last = 0;    ///< positions of the window
    std::int64_t source = 0;             ///< where the element of window `first` lies
};

/// How windows of the innermost dimension meet the operand's rows.
struct Inner {
    WindowDimension window;
    std::int64_t extent = 1;       ///< of an operand row
    std::int64_t positions = 1;    ///< windows in a row
    std::int64_t step = 1;         ///< operand elements between neighbouring windows of a span
    std::vector<Span> spans;       ///< element by element of the window

    /// Each element is a window of its own: channels, in channels-last images.
    bool is_single() const { return window == WindowDimension{} && positions == extent; }

    /// Rows are cut into windows without rest: row follows row without a seam.
    bool is_seamless() const {
        return window.stride == window.size && window.padding_low == 0 &&
               window.base_dilation == 1 && window.window_dilation == 1 &&
               positions * window.size == extent;
    }
};

/// Where the windows of one outer dimension lie: source[position * size + element], -1 outside.
struct Outer {
    std::int64_t size = 1;
    std::int64_t positions = 1;
    std::int64_t stride = 1;
    std::vector<std::int64_t> source;
};

/// -1 when in padding or in a gap.
std::int64_t source_of(const WindowDimension& w, std::int64_t extent, std::int64_t position,
                       std::int64_t element) {
    const std::int64_t at = position * w.stride + element * w.window_dilation - w.padding_low;
    if (at < 0 || at % w.base_dilation != 0 || at / w.base_dilation >= extent) return -1;
    return at / w.base_dilation;
}

Inner inner_of(const WindowDimension& w, std::int64_t extent, std::int64_t positions) {
    Inner inner{w, extent, positions, w.base_dilation == 1 ? w.stride : 0, {}};
    for (std::int64_t element = 0; element < w.size; ++element) {
        bool open = false;
        for (std::int64_t position = 0; position < positions; ++position) {
            const std::int64_t source = source_of(w, extent, position, element);
            // With gaps in the operand every window is a span of its own.
            const bool joins = open && source >= 0 && w.base_dilation == 1;
            if (joins)
                ++inner.spans.back().last;
            else if (source >= 0)
                inner.spans.push_back({position, position + 1, source});
            open = source >= 0;
        }
    }
    return inner;
}

using Bases = std::vector<std::int64_t>;

class Windows {
public:
    Windows(const Dims& operand, const std::vector<WindowDimension>& window, const Dims& result) {
        const Dims strides = strides_of(operand);
        for (std::size_t i = 0; i + 1 < operand.size(); ++i) {
            Outer outer{window[i].size, result[i], strides[i], {}};
            for (std::int64_t position = 0; position < result[i]; ++position)
                for (std::int64_t element = 0; element < window[i].size; ++element)
                    outer.source.push_back(source_of(window[i], operand[i], position, element));
            rows_ *= result[i];
            outer_.push_back(std::move(outer));
        }
        inner_ = operand.empty() ? inner_of({}, 1, 1)
                                 : inner_of(window.back(), operand.back(), result.back());
    }

    const Inner& inner() const { return inner_; }

    /// Calls body(row, bases) for each row of results; bases: where the operand's rows begin that
    /// its windows see, in row-major order of the window.
    template <class Body>
    void for_each_row_of_windows(Body&& body) const {
        Dims index(outer_.size(), 0);
        std::vector<Bases> bases(outer_.size() + 1);    // by dimensions taken into account
        bases[0] = {0};
        std::size_t changed = 0;
        for (std::int64_t row = 0; row < rows_; ++row) {
            for (std::size_t i = changed; i < outer_.size(); ++i)
                spread(outer_[i], index[i], bases[i], bases[i + 1]);
            body(row, std::as_const(bases.back()));
            for (changed = outer_.size(); changed-- > 0;) {
                if (++index[changed] < outer_[changed].positions) break;
                index[changed] = 0;
            }
        }
    }

private:
    static void spread(const Outer& outer, std::int64_t position, const Bases& from, Bases& to) {
        const std::int64_t* const sources = outer.source.data() + position * outer.size;
        to.clear();
        for (const std::int64_t base : from)
            for (std::int64_t element = 0; element < outer.size; ++element)
                if (sources[element] >= 0) to.push_back(base + sources[element] * outer.stride);
    }

    std::vector<Outer> outer_;
    Inner inner_;
    std::int64_t rows_ = 1;
};

/// What windows are combined in: bf16 in f32, the others in their own type.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, BFloat16>, float, T>;

template <Reduction reduction, class T, class From>
void combine_row(T* to, const From* from, std::int64_t step, std::int64_t n) {
    if (step == 1) {
        for (std::int64_t i = 0; i < n; ++i)
            to[i] = combined<reduction>(to[i], T(from[i]));
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        to[i] = combined<reduction>(to[i], T(from[i * step]));
}

/// to[i] = the rows of the operand that a row of windows sees, combined into one.
template <Reduction reduction, class T, class From>
void combine_bases(T* to, const From* from, const Bases& bases, std::int64_t n) {
    if (bases.empty()) {
        std::fill_n(to, n, neutral<reduction, T>());
        return;
    }
    const From* const first = from + bases[0];
    if (bases.size() == 1) {
        std::copy_n(first, n, to);
        return;
    }
    const From* const second = from + bases[1];
    for (std::int64_t i = 0; i < n; ++i)
        to[i] = combined<reduction>(T(first[i]), T(second[i]));
    for (std::size_t k = 2; k < bases.size(); ++k)
        combine_row<reduction>(to, from + bases[k], 1, n);
}

/// to[i] = from[i * size .. (i + 1) * size) combined.
template <Reduction reduction, class T>
void combine_neighbours(T* to, const T* from, std::int64_t size, std::int64_t n) {
    if (size == 2) {
        for (std::int64_t i = 0; i < n; ++i)
            to[i] = combined<reduction>(from[2 * i], from[2 * i + 1]);
        return;
    }
    for (std::int64_t i = 0; i < n; ++i)
        to[i] = from[i * size];
    for (std::int64_t element = 1; element < size; ++element)
        combine_row<reduction>(to, from + element, size, n);
}

constexpr std::int64_t tile_elements = 1024;

/// Calls make(row) with memory for n results, in the wide type, and stores them.
template <class T, class Make>
void store_row(T* to, std::int64_t n, std::vector<Wide<T>>& scratch, Make&& make) {
    if constexpr (std::is_same_v<T, Wide<T>>) {
        make(to);
    } else {
        scratch.resize(std::size_t(n));
        make(scratch.data());
        for (std::int64_t i = 0; i < n; ++i)
            to[i] = T(scratch[std::size_t(i)]);
    }
}

/// Across the rows first, then along them. Where rows have no seam, short rows are collected into
/// a tile: loops over a few elements would spend their time beginning and ending.
template <Reduction reduction, class T>
void run_reduce(const Windows& windows, const T* from, T* to) {
    using Number = Wide<T>;
    const Inner& inner = windows.inner();
    const std::int64_t rows_max = std::max<std::int64_t>(1, tile_elements / inner.extent);
    std::vector<Number> tile(std::size_t(rows_max * inner.extent));
    std::vector<Number> scratch;
    std::int64_t collected = 0;
    T* target = to;
    const auto flush = [&] {
        const std::int64_t n = collected * inner.positions;
        store_row(target, n, scratch, [&](Number* row) {
            combine_neighbours<reduction>(row, tile.data(), inner.window.size, n);
        });
        target += n;
        collected = 0;
    };
    windows.for_each_row_of_windows([&](std::int64_t, const Bases& bases) {
        combine_bases<reduction>(tile.data() + collected * inner.extent, from, bases, inner.extent);
        if (inner.is_seamless()) {
            if (++collected == rows_max) flush();
            return;
        }
        store_row(target, inner.positions, scratch, [&](Number* row) {
            std::fill_n(row, inner.positions, neutral<reduction, Number>());
            for (const Span& span : inner.spans)
                combine_row<reduction>(row + span.first, tile.data() + span.source, inner.step,
                                       span.last - span.first);
        });
        target += inner.positions;
    });
    flush();
}

template <class T>
bool is_above(T x, T largest) {
    return (x > largest) | ((x != x) & (largest == largest));
}

/// Where the largest of the elements lies that one window sees, or -1 when it sees none. No
/// branches on values: they are as good as random.
template <class T>
std::int64_t place_of_largest(const T* input, const Bases& bases, std::int64_t first,
                              std::int64_t last) {
    if (bases.empty() || first >= last) return -1;
    std::int64_t place = bases[0] + first;
    T largest = input[place];
    for (const std::int64_t base : bases) {
        for (std::int64_t at = base + first; at < base + last; ++at) {
            const T value = input[at];
            const bool above = is_above(value, largest);
            largest = above ? value : largest;
            place = above ? at : place;
        }
    }
    return place;
}

/// The largest of each column so far, and which row it came from.
template <class T>
void keep_larger(const T* __restrict row, std::int32_t number, Wide<T>* __restrict largest,
                 std::int32_t* __restrict place, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const auto value = Wide<T>(row[i]);
        const Wide<T> before = largest[i];
        const bool above = is_above(value, before);
        largest[i] = above ? value : before;
        place[i] = above ? number : place[i];
    }
}

/// Adds the terms whose column has its largest element in row `number`.
template <class T>
void add_chosen(const T* __restrict terms, const std::int32_t* __restrict place,
                std::int32_t number, Wide<T>* __restrict to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const auto term = Wide<T>(terms[i]);
        const Wide<T> before = to[i];
        to[i] = Wide<T>(before + (place[i] == number ? term : Wide<T>(0)));
    }
}

/// Where windows do not reach along the rows: whole rows at a time, without branches.
template <class T>
void run_scatter_rows(const Windows& windows, std::int64_t count, const T* input, const T* source,
                      Wide<T>* to) {
    std::fill_n(to, count, Wide<T>(0));
    const std::int64_t n = windows.inner().extent;
    std::vector<Wide<T>> largest(std::size_t(n), Wide<T>(0));
    std::vector<std::int32_t> place(std::size_t(n), 0);
    windows.for_each_row_of_windows([&](std::int64_t row, const Bases& bases) {
        if (bases.empty()) return;
        std::copy_n(input + bases[0], n, largest.data());
        std::ranges::fill(place, 0);
        for (std::size_t k = 1; k < bases.size(); ++k)
            keep_larger(input + bases[k], std::int32_t(k), largest.data(), place.data(), n);
        for (std::size_t k = 0; k < bases.size(); ++k)
            add_chosen(source + row * n, place.data(), std::int32_t(k), to + bases[k], n);
    });
}

template <class T>
void run_scatter(const Windows& windows, std::int64_t count, const T* input, const T* source,
                 Wide<T>* to) {
    std::fill_n(to, count, Wide<T>(0));
    const Inner& inner = windows.inner();
    const WindowDimension& w = inner.window;
    windows.for_each_row_of_windows([&](std::int64_t row, const Bases& bases) {
        const T* const terms = source + row * inner.positions;
        for (std::int64_t position = 0; position < inner.positions; ++position) {
            const std::int64_t begin = position * w.stride - w.padding_low;
            const std::int64_t place =
                place_of_largest(input, bases, std::max<std::int64_t>(0, begin),
                                 std::min(inner.extent, begin + w.size));
            if (place >= 0) to[place] = Wide<T>(to[place] + Wide<T>(terms[position]));
        }
    });
}

template <class T>
void scatter(const Windows& windows, std::int64_t count, const T* input, const T* source,
             Wide<T>* to) {
    if (windows.inner().is_single())
        run_scatter_rows(windows, count, input, source, to);
    else
        run_scatter(windows, count, input, source, to);
}

template <class T>
const T* as(const std::byte* bytes) {
    return reinterpret_cast<const T*>(bytes);
}

}    // namespace

namespace {

/// The shape of a pool that pool_two_by_two.h knows; nothing for others.
std::optional<PoolShape> pool_of(const Shape& operand, const std::vector<WindowDimension>& window) {
    const std::size_t rank = operand.dims.size();
    if (operand.dtype != DType::f32 || rank < 2) return {};
    PoolShape shape{1, operand.dims[rank - 1] / 2};
    for (std::size_t i = 0; i < rank; ++i) {
        const std::int64_t size = i + 2 >= rank ? 2 : 1;
        const WindowDimension wanted{.size = size, .stride = size};
        if (window[i] != wanted || operand.dims[i] % size != 0) return {};
        if (i + 1 < rank) shape.rows *= operand.dims[i] / size;
    }
    return shape;
}

}    // namespace

namespace {

/// As with_number, and bf16.
template <Reduction reduction, class Call>
Kernel with_window_number(DType dtype, Call&& call) {
    if (dtype == DType::bf16) return call.template operator()<reduction, BFloat16>();
    return with_number<reduction>(dtype, call);
}

template <class Call>
Kernel with_window_reduction(Reduction reduction, DType dtype, Call&& call) {
    if (reduction == Reduction::add) return with_window_number<Reduction::add>(dtype, call);
    if (reduction == Reduction::maximum) return with_window_number<Reduction::maximum>(dtype, call);
    return with_window_number<Reduction::minimum>(dtype, call);
}

template <class T>
Kernel largest_kernel(const ChannelPool& channels) {
    return [pool = channels](const KernelCall& call) {
        largest_of_windows(pool, as<T>(call.reads[0]), reinterpret_cast<T*>(call.writes[0]));
    };
}

template <class T>
Kernel move_kernel(const ChannelPool& channels) {
    return [pool = channels](const KernelCall& call) {
        move_to_largest(pool, as<T>(call.reads[0]), as<T>(call.reads[1]),
                        reinterpret_cast<T*>(call.writes[0]));
    };
}

}    // namespace

bool scatter_needs_sums(const Shape& input, const SelectAndScatterAttributes& window,
                        const Shape& source) {
    if (input.dtype != DType::bf16) return false;
    const auto channels = channel_pool_of(input.dims, window.window, source.dims);
    return !channels || !covers_once(*channels);
}

Kernel make_reduce_window(const Shape& x, const ReduceWindowAttributes& window,
                          const Shape& result) {
    const auto pool = pool_of(x, window.window);
    if (pool && window.reduction == Reduction::maximum)
        return [shape = *pool](const KernelCall& call) {
            largest_of_four(shape, as<float>(call.reads[0]),
                            reinterpret_cast<float*>(call.writes[0]));
        };
    const auto channels = channel_pool_of(x.dims, window.window, result.dims);
    if (channels && window.reduction == Reduction::maximum) {
        if (x.dtype == DType::f32) return largest_kernel<float>(*channels);
        if (x.dtype == DType::bf16) return largest_kernel<BFloat16>(*channels);
    }
    const auto windows = std::make_shared<const Windows>(x.dims, window.window, result.dims);
    return with_window_reduction(window.reduction, x.dtype,
                                 [&]<Reduction how, class T>() -> Kernel {
                                     return [windows](const KernelCall& call) {
                                         run_reduce<how>(*windows, as<T>(call.reads[0]),
                                                         reinterpret_cast<T*>(call.writes[0]));
                                     };
                                 });
}

Kernel make_select_and_scatter(const Shape& input, const SelectAndScatterAttributes& window,
                               const Shape& source) {
    if (const auto pool = pool_of(input, window.window))
        return [shape = *pool](const KernelCall& call) {
            scatter_to_largest_of_four(shape, as<float>(call.reads[0]), as<float>(call.reads[1]),
                                       reinterpret_cast<float*>(call.writes[0]));
        };
    const auto channels = channel_pool_of(input.dims, window.window, source.dims);
    if (channels && covers_once(*channels)) {
        if (input.dtype == DType::f32) return move_kernel<float>(*channels);
        if (input.dtype == DType::bf16) return move_kernel<BFloat16>(*channels);
    }
    if (channels && input.dtype == DType::f32)
        return [pool = *channels](const KernelCall& call) {
            add_to_largest(pool, as<float>(call.reads[0]), as<float>(call.reads[1]),
                           reinterpret_cast<float*>(call.writes[0]));
        };
    const auto windows = std::make_shared<const Windows>(input.dims, window.window, source.dims);
    const std::int64_t count = input.element_count();
    return with_window_number<Reduction::add>(input.dtype, [&]<Reduction, class T>() -> Kernel {
        return [windows, count](const KernelCall& call) {
            const T* const values = as<T>(call.reads[0]);
            const T* const terms = as<T>(call.reads[1]);
            std::byte* const bytes = call.writes[std::is_same_v<T, Wide<T>> ? 0 : 1];
            auto* const sums = reinterpret_cast<Wide<T>*>(bytes);
            scatter(*windows, count, values, terms, sums);
            if constexpr (!std::is_same_v<T, Wide<T>>) {
                auto* const to = reinterpret_cast<T*>(call.writes[0]);
                for (std::int64_t i = 0; i < count; ++i)
                    to[i] = T(sums[i]);
            }
        };
    });
}

}    // namespace slipway
