#include "executor/graph/ops/window.h"

#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/reducer.h"
#include "executor/graph/ops/rules.h"

/// Ops that slide a window: reduce_window, select_and_scatter, and the pools made of them.
namespace slipway {

std::int64_t dilated(std::int64_t extent, std::int64_t dilation) {
    return extent == 0 ? 0 : (extent - 1) * dilation + 1;
}

std::int64_t window_count(const WindowDimension& window, std::int64_t extent) {
    const std::int64_t room =
        window.padding_low + dilated(extent, window.base_dilation) + window.padding_high;
    const std::int64_t reach = dilated(window.size, window.window_dilation);
    return room < reach ? 0 : (room - reach) / window.stride + 1;
}

bool is_positive(const WindowDimension& window) {
    return window.size >= 1 && window.stride >= 1 && window.base_dilation >= 1 &&
           window.window_dilation >= 1;
}

WindowDimension transposed(const WindowDimension& window, std::int64_t extent, std::int64_t count) {
    const std::int64_t reach = dilated(window.size, window.window_dilation);
    const std::int64_t low = reach - 1 - window.padding_low;
    return {.size = window.size,
            .stride = window.base_dilation,
            .padding_low = low,
            .padding_high = dilated(extent, window.base_dilation) + reach - 1 -
                            dilated(count, window.stride) - low,
            .base_dilation = window.stride,
            .window_dilation = window.window_dilation};
}

Tensor reduce_window(const Tensor& x, std::vector<WindowDimension> window, Reduction reduction) {
    return make_node({.op = OpCode::reduce_window,
                      .attributes = ReduceWindowAttributes{std::move(window), reduction},
                      .operands = {x},
                      .result = {}});
}

Tensor select_and_scatter(const Tensor& input, const Tensor& source,
                          std::vector<WindowDimension> window) {
    return make_node({.op = OpCode::select_and_scatter,
                      .attributes = SelectAndScatterAttributes{std::move(window)},
                      .operands = {input, source},
                      .result = {}});
}

namespace {

using Window = std::vector<WindowDimension>;

Window pool_window(const char* op, const Tensor& x, std::int64_t size, std::int64_t stride) {
    if (x.shape().rank() != 4) refuse(op, 1, {&x, 1}, "the operand must be [n, c, h, w]");
    const WindowDimension moving{.size = size, .stride = stride};
    return {{}, {}, moving, moving};
}

Dims sizes_of(const Window& window) {
    Dims sizes;
    for (const WindowDimension& dimension : window)
        sizes.push_back(dimension.size);
    return sizes;
}

/// Calls body(offset) for each operand element under the window at `position`, in row-major order.
template <class Body>
void for_each_under(const Window& window, const Shape& x, const Dims& position, Body&& body) {
    const Dims strides = strides_of(x.dims);
    for_each_index(sizes_of(window), [&](const Dims& element) {
        std::int64_t offset = 0;
        for (std::size_t i = 0; i < window.size(); ++i) {
            const auto at = window_source(window[i], x.dims[i], position[i], element[i]);
            if (!at) return;
            offset += *at * strides[i];
        }
        body(std::size_t(offset));
    });
}

}    // namespace

Tensor max_pool_2d(const Tensor& x, std::int64_t size, std::int64_t stride) {
    return reduce_window(x, pool_window("max_pool_2d", x, size, stride), Reduction::maximum);
}

Tensor average_pool_2d(const Tensor& x, std::int64_t size, std::int64_t stride) {
    const Window window = pool_window("average_pool_2d", x, size, stride);
    return reduce_window(x, window, Reduction::add) *
           constant(1.0 / double(size * size), x.dtype());
}

namespace rules {

Shape infer_reduce_window(const NodeRequest& request) {
    const Window& window = std::get<ReduceWindowAttributes>(request.attributes).window;
    const Shape& x = request.operands[0].shape();
    require(std::int64_t(window.size()) == x.rank(), request, 1,
            "there must be one window dimension for each of the operand's {}, got {}", x.rank(),
            window.size());
    require(std::ranges::all_of(window, is_positive), request, 2,
            "sizes, strides and dilations must be at least 1");
    Shape result = x;
    for (std::size_t i = 0; i < window.size(); ++i) {
        result.dims[i] = window_count(window[i], x.dims[i]);
        require(result.dims[i] >= 1, request, 3,
                "dimension {}: a window of {} does not fit into the padded operand", i,
                window[i].size);
    }
    require(is_number(x.dtype), request, 4, "the operand must be a number");
    return result;
}

Shape infer_select_and_scatter(const NodeRequest& request) {
    const Window& window = std::get<SelectAndScatterAttributes>(request.attributes).window;
    const Shape& input = request.operands[0].shape();
    const Shape& source = request.operands[1].shape();
    require(input.dtype == source.dtype && is_number(input.dtype), request, 1,
            "operands must be numbers of one dtype");
    require(std::int64_t(window.size()) == input.rank(), request, 2,
            "there must be one window dimension for each of the input's {}, got {}", input.rank(),
            window.size());
    const auto is_plain = [](const WindowDimension& d) {
        return is_positive(d) && d.base_dilation == 1 && d.window_dilation == 1;
    };
    require(std::ranges::all_of(window, is_plain), request, 3,
            "sizes and strides must be at least 1, dilations 1");
    Dims counts;
    for (std::size_t i = 0; i < window.size(); ++i)
        counts.push_back(window_count(window[i], input.dims[i]));
    require(counts == source.dims, request, 4, "the source must have one element per window: {}",
            to_string(counts));
    return input;
}

std::vector<Tensor> gradient_reduce_window(const Tensor& y, const Tensor& dy) {
    const auto& [window, reduction] = std::get<ReduceWindowAttributes>(y.node().attributes);
    const Tensor& x = y.node().operands[0];
    if (reduction == Reduction::minimum)
        refuse_gradient(y, "only sums and maxima of windows have one");
    if (reduction == Reduction::maximum) {
        const bool is_dilated = std::ranges::any_of(window, [](const WindowDimension& d) {
            return d.base_dilation != 1 || d.window_dilation != 1;
        });
        if (is_dilated) refuse_gradient(y, "a maximum over a dilated window has none");
        return {select_and_scatter(x, dy, window)};
    }
    Window back(window.size());
    for (std::size_t i = 0; i < window.size(); ++i)
        back[i] = transposed(window[i], x.dims()[i], y.dims()[i]);
    return {reduce_window(dy, std::move(back), Reduction::add)};
}

Array evaluate_reduce_window(const Node& node, std::span<const Array> operands) {
    const auto& [window, reduction] = std::get<ReduceWindowAttributes>(node.attributes);
    return with_number_type(node.shape.dtype, [&]<class T>() {
        Array result(node.shape);
        const auto from = operands[0].as<T>();
        auto to = result.as<T>();
        std::size_t n = 0;
        for_each_index(node.shape.dims, [&](const Dims& position) {
            Reducer<T> reducer(reduction);
            for_each_under(window, operands[0].shape(), position,
                           [&](std::size_t offset) { reducer.add(from[offset]); });
            to[n++] = reducer.result();
        });
        return result;
    });
}

Array evaluate_select_and_scatter(const Node& node, std::span<const Array> operands) {
    const Window& window = std::get<SelectAndScatterAttributes>(node.attributes).window;
    return with_number_type(node.shape.dtype, [&]<class T>() {
        const auto input = operands[0].as<T>();
        const auto source = operands[1].as<T>();
        std::vector<Sum<T>> sums(input.size(), 0);
        std::size_t n = 0;
        for_each_index(operands[1].shape().dims, [&](const Dims& position) {
            std::optional<std::size_t> chosen;
            for_each_under(window, operands[0].shape(), position, [&](std::size_t offset) {
                if (!chosen || is_above(input[offset], input[*chosen])) chosen = offset;
            });
            if (chosen) sums[*chosen] += Sum<T>(source[n]);
            ++n;
        });
        Array result(node.shape);
        std::ranges::transform(sums, result.as<T>().begin(), [](Sum<T> sum) { return T(sum); });
        return result;
    });
}

}    // namespace rules

}    // namespace slipway
