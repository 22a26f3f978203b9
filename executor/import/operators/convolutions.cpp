#include <fmt/format.h>
#include <array>

#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"

namespace slipway::importer {

namespace {

Tensor with_bias(const Tensor& y, const Tensor& bias) {
    return bias.empty() ? y : y + broadcast_in_dim(bias, y.dims(), {1});
}

/// What is added on both sides of each spatial dimension. "same" puts the odd one above.
struct Padding {
    Dims low, high;
};

Padding padding_of(const Call& call, const Tensor& weight, const Dims& dilation) {
    const std::size_t count = dilation.size();
    const auto* word = std::get_if<std::string>(&call.argument("padding").value);
    if (word == nullptr) {
        const Dims both = call.integers("padding", count, 0);
        return {both, both};
    }
    Padding padding{Dims(count, 0), Dims(count, 0)};
    if (*word != "same") return padding;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t total = dilation.at(i) * (weight.dims().at(2 + i) - 1);
        padding.low[i] = total / 2;
        padding.high[i] = total - total / 2;
    }
    return padding;
}

/// Over `count` spatial dimensions, [n, c, …]; a sample without a batch gets one.
Value convolved(const Call& call, std::size_t count) {
    const Tensor weight = call.tensor("weight");
    const Dims stride = call.integers("stride", count, 1);
    const Dims dilation = call.integers("dilation", count, 1);
    const Padding padding = padding_of(call, weight, dilation);
    const Tensor x = as_floating(call.tensor("input"));
    if (x.dims().size() != count + 2)
        call.refuse(
            fmt::format("needs a batch: {} dimensions, got {}", count + 2, x.dims().size()));
    ConvolutionAttributes attributes{.window = {},
                                     .input_layout = {},
                                     .kernel_layout = {},
                                     .output_layout = {},
                                     .feature_groups = call.integer("groups", 1)};
    for (std::size_t i = 0; i < count; ++i)
        attributes.window.push_back({.size = weight.dims().at(2 + i),
                                     .stride = stride.at(i),
                                     .padding_low = padding.low[i],
                                     .padding_high = padding.high[i],
                                     .window_dilation = dilation.at(i)});
    return {with_bias(convolution(x, weight, attributes), call.tensor_or_empty("bias"))};
}

Value lower_conv1d(const Call& call) {
    return convolved(call, 1);
}
Value lower_conv2d(const Call& call) {
    return convolved(call, 2);
}

/// The convolution whose gradient this one is: the kernel reversed, stride as gaps of the input.
Value lower_conv_transpose2d(const Call& call) {
    constexpr std::size_t count = 2;
    const Tensor x = as_floating(call.tensor("input"));
    const Tensor weight = call.tensor("weight");    // [in, out / groups, h, w]
    if (call.integer("groups", 1) != 1) call.refuse("is lowered without groups");
    const Dims stride = call.integers("stride", count, 1);
    const Dims padding = call.integers("padding", count, 0);
    const Dims more = call.integers("output_padding", count, 0);
    const Dims dilation = call.integers("dilation", count, 1);
    ConvolutionAttributes attributes{
        .window = {}, .input_layout = {}, .kernel_layout = {1, 0, 2, 3}, .output_layout = {}};
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t reach = dilation.at(i) * (weight.dims().at(2 + i) - 1);
        attributes.window.push_back({.size = weight.dims().at(2 + i),
                                     .stride = 1,
                                     .padding_low = reach - padding.at(i),
                                     .padding_high = reach - padding.at(i) + more.at(i),
                                     .base_dilation = stride.at(i),
                                     .window_dilation = dilation.at(i)});
    }
    return {with_bias(convolution(x, reverse(weight, {2, 3}), attributes),
                      call.tensor_or_empty("bias"))};
}

constexpr auto convolutions_table = std::to_array<OperatorRow>({
    {"aten.conv1d", lower_conv1d},
    {"aten.conv2d", lower_conv2d},
    {"aten.conv_transpose2d", lower_conv_transpose2d},
});

}    // namespace

std::span<const OperatorRow> convolution_rows() {
    return convolutions_table;
}

}    // namespace slipway::importer
