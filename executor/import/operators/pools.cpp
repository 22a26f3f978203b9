// Pools of torch round the number of windows down, or up with ceil_mode, where a last window must
// begin inside the input or its low padding. What an average divides by is the window's size with
// its padding (count_include_pad), or the elements that are there: a pool of ones tells.
#include <fmt/format.h>
#include <array>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

std::int64_t rounded_up(std::int64_t x, std::int64_t divisor) {
    return (x + divisor - 1) / divisor;
}

/// One side of the window; high padding makes room for what ceil_mode adds.
WindowDimension side_of(const WindowDimension& wanted, std::int64_t extent, bool rounds_up) {
    WindowDimension side = wanted;
    const std::int64_t reach = side.window_dilation * (side.size - 1) + 1;
    const std::int64_t room = extent + 2 * side.padding_low - reach;
    if (!rounds_up || room < 0) return side;
    std::int64_t windows = rounded_up(room, side.stride) + 1;
    if ((windows - 1) * side.stride >= extent + side.padding_low) --windows;
    side.padding_high = (windows - 1) * side.stride + reach - extent - side.padding_low;
    return side;
}

/// Over the last `count` dimensions.
std::vector<WindowDimension> window_of(const Call& call, const Tensor& x, std::size_t count) {
    const Dims size = call.positives("kernel_size", count, 1);
    Dims stride = call.integers("stride", Dims{});
    if (stride.empty()) stride = size;
    stride = stride == size ? size : call.positives("stride", count, 1);
    const Dims padding = call.integers("padding", count, 0);
    const Dims dilation = call.positives("dilation", count, 1);
    const bool rounds_up = call.flag("ceil_mode", false);
    std::vector<WindowDimension> window(x.dims().size() - count);
    for (std::size_t i = 0; i < count; ++i)
        window.push_back(side_of({.size = size.at(i),
                                  .stride = stride.at(i),
                                  .padding_low = padding.at(i),
                                  .padding_high = padding.at(i),
                                  .window_dilation = dilation.at(i)},
                                 x.dims().at(x.dims().size() - count + i), rounds_up));
    return window;
}

Tensor pooled(const Call& call, std::size_t count) {
    const Tensor x = as_floating(call.tensor("self"));
    if (x.dims().size() != count + 2)
        call.refuse(fmt::format("needs [n, c] and {} spatial dimensions", count));
    return x;
}

template <std::size_t count>
Value lower_max_pool(const Call& call) {
    const Tensor x = pooled(call, count);
    return {reduce_window(x, window_of(call, x, count), Reduction::maximum)};
}

template <std::size_t count>
Value lower_avg_pool(const Call& call) {
    const Tensor x = pooled(call, count);
    const std::vector<WindowDimension> window = window_of(call, x, count);
    const Tensor sum = reduce_window(x, window, Reduction::add);
    std::int64_t elements = 1;
    bool is_padded = false, rounds_up = false;
    for (const WindowDimension& side : window) {
        elements *= side.size;
        is_padded = is_padded || side.padding_low > 0;
        rounds_up = rounds_up || side.padding_high > side.padding_low;
    }
    if (call.has("divisor_override"))
        return {sum * number_like(sum, 1 / call.number("divisor_override"))};
    const bool counts_padding = call.flag("count_include_pad", true);
    if (!rounds_up && (counts_padding || !is_padded))
        return {sum * number_like(sum, 1 / double(elements))};
    // Padding counts, what ceil_mode adds beyond it does not.
    Tensor ones = broadcast(number_like(x, 1), x.dims());
    std::vector<WindowDimension> counting = window;
    if (counts_padding) {
        PadAttributes padding{.low = Dims(x.dims().size(), 0),
                              .high = Dims(x.dims().size(), 0),
                              .interior = Dims(x.dims().size(), 0)};
        for (std::size_t i = 0; i < window.size(); ++i) {
            padding.low[i] = padding.high[i] = window[i].padding_low;
            counting[i].padding_high -= window[i].padding_low;
            counting[i].padding_low = 0;
        }
        ones = pad(ones, 1, padding);
    }
    return {sum / reduce_window(ones, counting, Reduction::add)};
}

/// Windows of one dimension that overlap or differ in size: the mean of elements floor(i * n / m)
/// up to ceil((i + 1) * n / m), as a product with a matrix of their shares.
Tensor averaged(const Tensor& x, std::int64_t dimension, std::int64_t windows) {
    const std::int64_t extent = x.dims().at(std::size_t(dimension));
    const Dims dims{extent, windows};
    const Shape places{DType::i32, dims};
    // Quotients of small whole numbers: their floor is exact in f32.
    const auto number = [&](double value) { return broadcast(constant(value), dims); };
    const Tensor element = convert(iota(places, 0), DType::f32);
    const Tensor window = convert(iota(places, 1), DType::f32);
    const Tensor first = floor(window * number(double(extent)) / number(double(windows)));
    const Tensor last =
        floor(((window + number(1)) * number(double(extent)) + number(double(windows - 1))) /
              number(double(windows)));    // one behind it
    const Tensor is_inside = logical_and(compare(element, first, Comparison::ge),
                                         compare(element, last, Comparison::lt));
    const Tensor shares = convert(is_inside, DType::f32) / (last - first);
    const std::int64_t end = x.shape().rank() - 1;
    return exchanged(matmul(exchanged(x, dimension, end), shares), dimension, end);
}

template <std::size_t count>
Value lower_adaptive_avg_pool(const Call& call) {
    Tensor x = pooled(call, count);
    Dims sizes;
    // None keeps the extent.
    const auto* list = std::get_if<std::vector<Value>>(&call.argument("output_size").value);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t extent = x.dims().at(2 + i);
        const bool keeps = list != nullptr && list->size() == count && (*list)[i].is_none();
        sizes.push_back(keeps ? extent : call.positives("output_size", count, 1)[i]);
    }
    if (sizes == Dims(count, 1)) {
        Dims spatial;
        for (std::size_t i = 0; i < count; ++i)
            spatial.push_back(std::int64_t(2 + i));
        return {mean_of(x, spatial, true)};
    }
    for (std::size_t i = 0; i < count; ++i)
        if (x.dims().at(2 + i) != sizes.at(i)) x = averaged(x, std::int64_t(2 + i), sizes.at(i));
    return {x};
}

template <std::size_t count>
Value lower_adaptive_max_pool(const Call& call) {
    const Tensor x = pooled(call, count);
    const Dims sizes = call.positives("output_size", count, 1);
    std::vector<WindowDimension> window(2);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t extent = x.dims().at(2 + i);
        if (extent % sizes.at(i) != 0)
            call.refuse(
                fmt::format("is lowered where its windows are equal: {} is no multiple of "
                            "{}",
                            extent, sizes.at(i)));
        window.push_back({.size = extent / sizes.at(i), .stride = extent / sizes.at(i)});
    }
    return {reduce_window(x, window, Reduction::maximum)};
}

constexpr auto pools_table = std::to_array<OperatorRow>({
    {"aten.adaptive_avg_pool1d", lower_adaptive_avg_pool<1>},
    {"aten.adaptive_avg_pool2d", lower_adaptive_avg_pool<2>},
    {"aten.adaptive_max_pool1d", lower_adaptive_max_pool<1>},
    {"aten.adaptive_max_pool2d", lower_adaptive_max_pool<2>},
    {"aten.avg_pool1d", lower_avg_pool<1>},
    {"aten.avg_pool2d", lower_avg_pool<2>},
    {"aten.max_pool1d", lower_max_pool<1>},
    {"aten.max_pool2d", lower_max_pool<2>},
});

}    // namespace

std::span<const OperatorRow> pool_rows() {
    return pools_table;
}

}    // namespace slipway::importer
