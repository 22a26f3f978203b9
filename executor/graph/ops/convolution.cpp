#include <algorithm>

#include "executor/graph/ops.h"
#include "executor/graph/ops/constraint.h"
#include "executor/graph/ops/dims.h"
#include "executor/graph/ops/loops.h"
#include "executor/graph/ops/product.h"
#include "executor/graph/ops/rules.h"
#include "executor/graph/ops/window.h"

// Both gradients are convolutions again. That of the input is dy with the reversed kernel, whose
// features change roles, with the forward strides as gaps between elements. That of the kernel is
// the input with dy as the kernel, batch and features exchanged, with the forward strides as
// dilations. So second derivatives follow from the same rules. The naive evaluation adds in f64,
// element by element.
// Source: Dumoulin, Visin, "A guide to convolution arithmetic for deep learning", 2016
namespace slipway {

Tensor convolution(const Tensor& input, const Tensor& kernel, ConvolutionAttributes attributes) {
    // The default layouts are written out, so that equal convolutions hash equal.
    const Dims plain = identity_permutation(std::int64_t(attributes.window.size()) + 2);
    for (Dims* layout :
         {&attributes.input_layout, &attributes.kernel_layout, &attributes.output_layout}) {
        if (layout->empty()) *layout = plain;
    }
    if (attributes.result == input.dtype()) attributes.result.reset();
    return make_node({.op = OpCode::convolution,
                      .attributes = std::move(attributes),
                      .operands = {input, kernel},
                      .result = {}});
}

Tensor convolution_2d(const Tensor& input, const Tensor& kernel, std::int64_t stride,
                      std::int64_t padding) {
    const std::vector<Tensor> operands{input, kernel};
    if (input.shape().rank() != 4 || kernel.shape().rank() != 4)
        refuse("convolution_2d", 1, operands, "operands must be [n, c, h, w] and [o, c, kh, kw]");
    std::vector<WindowDimension> window;
    for (const std::size_t i : {std::size_t{2}, std::size_t{3}}) {
        window.push_back({.size = kernel.dims()[i],
                          .stride = stride,
                          .padding_low = padding,
                          .padding_high = padding});
    }
    return convolution(input, kernel,
                       {.window = std::move(window),
                        .input_layout = {},
                        .kernel_layout = {},
                        .output_layout = {}});
}

namespace {

/// A convolution's extents by role instead of by dimension.
struct Extents {
    Dims input, kernel, output;    ///< (batch, feature, spatial...), kernel (out, in, spatial...)
};

Extents extents_of(const ConvolutionAttributes& a, const Dims& input, const Dims& kernel) {
    Extents extents{picked(input, a.input_layout), picked(kernel, a.kernel_layout), {}};
    extents.output = {extents.input[0] / a.batch_groups, extents.kernel[0]};
    for (std::size_t i = 0; i < a.window.size(); ++i)
        extents.output.push_back(window_count(a.window[i], extents.input[i + 2]));
    return extents;
}

Dims with_first_two_swapped(Dims layout) {
    std::swap(layout[0], layout[1]);
    return layout;
}

/// [.., groups * o, .., i, ..] -> [.., o, .., groups * i, ..]: output features of a kernel become
/// its input features within each group.
Tensor with_groups_moved(const Tensor& kernel, const Dims& layout, std::int64_t groups) {
    if (groups == 1) return kernel;
    const std::int64_t out = layout[0];
    const std::int64_t in = layout[1];
    Dims split = kernel.dims();
    split[std::size_t(out)] /= groups;
    split.insert(split.begin() + out, groups);
    Dims permutation;
    Dims merged = kernel.dims();
    merged[std::size_t(out)] /= groups;
    merged[std::size_t(in)] *= groups;
    for (std::int64_t i = 0; i < kernel.shape().rank(); ++i) {
        if (i == in) permutation.push_back(out);    // where the groups went
        permutation.push_back(i < out ? i : i + 1);
    }
    return reshape(transpose(reshape(kernel, split), permutation), merged);
}

/// dy convolved with the reversed kernel, whose feature roles are swapped.
Tensor gradient_of_input(const Tensor& y, const Tensor& dy) {
    const auto& a = std::get<ConvolutionAttributes>(y.node().attributes);
    const Tensor& input = y.node().operands[0];
    const Tensor& kernel = y.node().operands[1];
    const Extents extents = extents_of(a, input.dims(), kernel.dims());
    ConvolutionAttributes back{.window = {},
                               .input_layout = a.output_layout,
                               .kernel_layout = with_first_two_swapped(a.kernel_layout),
                               .output_layout = a.input_layout,
                               .feature_groups = a.feature_groups,
                               .batch_groups = 1};
    for (std::size_t i = 0; i < a.window.size(); ++i)
        back.window.push_back(transposed(a.window[i], extents.input[i + 2], extents.output[i + 2]));
    const Dims spatial(a.kernel_layout.begin() + 2, a.kernel_layout.end());
    const Tensor reversed =
        reverse(with_groups_moved(kernel, a.kernel_layout, a.feature_groups), spatial);
    return convolution(dy, reversed, std::move(back));
}

/// The input convolved with dy as the kernel, batch and feature changing roles.
Tensor gradient_of_kernel(const Tensor& y, const Tensor& dy) {
    const auto& a = std::get<ConvolutionAttributes>(y.node().attributes);
    const Tensor& input = y.node().operands[0];
    const Extents extents = extents_of(a, input.dims(), y.node().operands[1].dims());
    ConvolutionAttributes back{.window = {},
                               .input_layout = with_first_two_swapped(a.input_layout),
                               .kernel_layout = with_first_two_swapped(a.output_layout),
                               .output_layout = with_first_two_swapped(a.kernel_layout),
                               .feature_groups = 1,
                               .batch_groups = a.feature_groups};
    for (std::size_t i = 0; i < a.window.size(); ++i) {
        const WindowDimension& w = a.window[i];
        const std::int64_t count = extents.output[i + 2];
        const std::int64_t padding = dilated(count, w.stride) -
                                     dilated(extents.input[i + 2], w.base_dilation) +
                                     dilated(w.size, w.window_dilation) - 1;
        back.window.push_back({.size = count,
                               .stride = w.window_dilation,
                               .padding_low = w.padding_low,
                               .padding_high = padding - w.padding_low,
                               .base_dilation = w.base_dilation,
                               .window_dilation = w.stride});
    }
    return convolution(input, dy, std::move(back));
}

/// Element by element: one output is the sum over the window and one group's input features.
template <class T>
class NaiveConvolution {
public:
    NaiveConvolution(const Node& node, const Array& input, const Array& kernel)
        : a_(std::get<ConvolutionAttributes>(node.attributes)),
          extents_(extents_of(a_, input.shape().dims, kernel.shape().dims)),
          input_steps_(picked(strides_of(input.shape().dims), a_.input_layout)),
          kernel_steps_(picked(strides_of(kernel.shape().dims), a_.kernel_layout)),
          window_(extents_.kernel.begin() + 2, extents_.kernel.end()),
          input_(input.as<T>()),
          kernel_(kernel.as<T>()) {}

    /// `index`: (batch, feature, spatial...) of the output.
    double at(const Dims& index) const {
        const std::int64_t groups = a_.feature_groups * a_.batch_groups;
        const std::int64_t group = index[1] / (extents_.output[1] / groups);
        Dims input_index = index;
        Dims kernel_index = extents_.kernel;
        if (a_.batch_groups > 1) input_index[0] += group * extents_.output[0];
        const std::int64_t first_feature = a_.feature_groups > 1 ? group * extents_.kernel[1] : 0;
        kernel_index[0] = index[1];
        Sum<T> sum = 0;
        for_each_index(window_, [&](const Dims& element) {
            for (std::size_t i = 0; i < element.size(); ++i) {
                const auto source =
                    window_source(a_.window[i], extents_.input[i + 2], index[i + 2], element[i]);
                if (!source) return;
                input_index[i + 2] = *source;
                kernel_index[i + 2] = element[i];
            }
            for (std::int64_t i = 0; i < extents_.kernel[1]; ++i) {
                input_index[1] = first_feature + i;
                kernel_index[1] = i;
                sum += Sum<T>(input_[offset_of(input_index, input_steps_)]) *
                       Sum<T>(kernel_[offset_of(kernel_index, kernel_steps_)]);
            }
        });
        return double(sum);
    }

private:
    const ConvolutionAttributes& a_;
    Extents extents_;
    Dims input_steps_, kernel_steps_;    ///< strides by role
    Dims window_;
    std::span<const T> input_, kernel_;
};

}    // namespace

namespace rules {

Shape infer_convolution(const NodeRequest& request) {
    const auto& a = std::get<ConvolutionAttributes>(request.attributes);
    const Shape& input = request.operands[0].shape();
    const Shape& kernel = request.operands[1].shape();
    const auto rank = std::int64_t(a.window.size()) + 2;
    require(input.dtype == kernel.dtype && is_floating(input.dtype), request, 1,
            "operands must both be f32 or both f64");
    require(input.rank() == rank && kernel.rank() == rank, request, 2,
            "with {} window dimensions, operands must have rank {}", a.window.size(), rank);
    require(is_permutation(a.input_layout, rank) && is_permutation(a.kernel_layout, rank) &&
                is_permutation(a.output_layout, rank),
            request, 3, "layouts {}, {}, {} must each name the dimensions 0..{} once",
            to_string(a.input_layout), to_string(a.kernel_layout), to_string(a.output_layout),
            rank - 1);
    const Dims window(picked(kernel.dims, a.kernel_layout));
    for (std::size_t i = 0; i < a.window.size(); ++i) {
        require(is_positive(a.window[i]) && a.window[i].size == window[i + 2], request, 4,
                "window dimension {}: size {} must be the kernel's extent {}; sizes, strides and "
                "dilations at least 1",
                i, a.window[i].size, window[i + 2]);
    }
    require(a.feature_groups >= 1 && a.batch_groups >= 1 &&
                (a.feature_groups == 1 || a.batch_groups == 1),
            request, 5, "groups must be at least 1, and one kind of them 1, got {} and {}",
            a.feature_groups, a.batch_groups);
    const Extents extents = extents_of(a, input.dims, kernel.dims);
    require(extents.input[1] == extents.kernel[1] * a.feature_groups, request, 6,
            "the input has {} features, the kernel takes {} in {} groups", extents.input[1],
            extents.kernel[1], a.feature_groups);
    require(extents.kernel[0] % (a.feature_groups * a.batch_groups) == 0 &&
                extents.input[0] % a.batch_groups == 0,
            request, 7, "{} output features and {} samples must divide into the groups",
            extents.kernel[0], extents.input[0]);
    require(std::ranges::all_of(extents.output.begin() + 2, extents.output.end(),
                                [](std::int64_t count) { return count >= 1; }),
            request, 8, "the kernel does not fit into the padded input");
    const DType result = a.result.value_or(input.dtype);
    require(is_product_type(input.dtype, result), request, 9,
            "products of {} have that type, those of bf16 also f32, not {}", to_string(input.dtype),
            to_string(result));
    return {result, picked(extents.output, inverse_permutation(a.output_layout))};
}

/// In the type that the operands have.
std::vector<Tensor> gradient_convolution(const Tensor& y, const Tensor& flow) {
    const auto& a = std::get<ConvolutionAttributes>(y.node().attributes);
    const Tensor dy = as_type(flow, y.node().operands[0].dtype());
    if (a.batch_groups != 1) refuse_gradient(y, "batch groups only arise in gradients");
    return {gradient_of_input(y, dy), gradient_of_kernel(y, dy)};
}

Array evaluate_convolution(const Node& node, std::span<const Array> operands) {
    const Dims& layout = std::get<ConvolutionAttributes>(node.attributes).output_layout;
    return with_product_types(
        operands[0].shape().dtype, node.shape.dtype, [&]<class T, class To>() {
            Array result(node.shape);
            const NaiveConvolution<T> convolution(node, operands[0], operands[1]);
            auto to = result.as<To>();
            std::size_t n = 0;
            for_each_index(node.shape.dims, [&](const Dims& index) {
                to[n++] = To(convolution.at(picked(index, layout)));
            });
            return result;
        });
}

}    // namespace rules

}    // namespace slipway
