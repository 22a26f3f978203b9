#include "executor/codegen/convolutions.h"

#include <algorithm>
#include <optional>

// The graph has one convolution operation, and gradients are convolutions too, with reversed
// kernels, gaps or exchanged roles. The library has three kernels: forward, by data and by weights.
// Each of as_forward, as_backward_data and as_backward_weights reads a node's views back as one of
// them, or says that it does not fit; the most likely kind is tried first. Reading the views, not
// the history, keeps convolutions that a user writes as fast as gradients.
namespace slipway {

namespace {

/// A node's operands and result by role: input and result (batch, feature, spatial...), kernel
/// (output feature, input feature, spatial...).
struct Roles {
    View input, kernel, result;
    std::vector<WindowDimension> window;
    std::int64_t feature_groups, batch_groups;
};

/// Cuts off what negative padding asks to be cut.
void crop(Roles& roles) {
    for (std::size_t i = 0; i < roles.window.size(); ++i) {
        WindowDimension& w = roles.window[i];
        if (w.base_dilation != 1) continue;
        const std::int64_t low = std::max<std::int64_t>(0, -w.padding_low);
        const std::int64_t high = std::max<std::int64_t>(0, -w.padding_high);
        if (low + high >= roles.input.dims[i + 2]) continue;
        roles.input.dims[i + 2] -= low + high;
        roles.input.offset += low * roles.input.strides[i + 2];
        w.padding_low += low;
        w.padding_high += high;
    }
}

/// Dimension 0 as [groups, rest], in front.
View split_first(View view, std::int64_t groups) {
    const std::int64_t rest = view.dims[0] / groups;
    const std::int64_t stride = view.strides[0];
    view.dims[0] = rest;
    view.dims.insert(view.dims.begin(), groups);
    view.strides.insert(view.strides.begin(), stride * rest);
    return view;
}

View with_swapped(View view, std::size_t i, std::size_t k) {
    std::swap(view.dims[i], view.dims[k]);
    std::swap(view.strides[i], view.strides[k]);
    return view;
}

/// The upper padding with which a forward convolution of x gives exactly y's extents; it may cut
/// off a rest that the stride leaves over.
void derive_padding_high(ConvolutionSpec& spec) {
    for (std::size_t i = 0; i < spec.strides.size(); ++i) {
        const std::int64_t reach = (spec.w.dims[i + 3] - 1) * spec.dilations[i] + 1;
        spec.padding_high.push_back((spec.y.dims[i + 2] - 1) * spec.strides[i] + reach -
                                    spec.x.dims[i + 2] - spec.padding_low[i]);
    }
}

bool all_of(const Roles& roles, std::int64_t WindowDimension::*member, std::int64_t value) {
    return std::ranges::all_of(roles.window,
                               [&](const WindowDimension& w) { return w.*member == value; });
}

std::optional<ConvolutionSpec> as_forward(Roles roles) {
    crop(roles);
    if (!all_of(roles, &WindowDimension::base_dilation, 1) || roles.batch_groups != 1) return {};
    ConvolutionSpec spec{.kind = ConvolutionKind::forward,
                         .x = roles.input,
                         .w = split_first(roles.kernel, roles.feature_groups),
                         .y = roles.result,
                         .strides = {},
                         .dilations = {},
                         .padding_low = {},
                         .padding_high = {}};
    for (const WindowDimension& w : roles.window) {
        spec.strides.push_back(w.stride);
        spec.dilations.push_back(w.window_dilation);
        spec.padding_low.push_back(w.padding_low);
    }
    derive_padding_high(spec);
    return spec;
}

/// The node is dx = dy * reversed w: gaps are the forward strides.
std::optional<ConvolutionSpec> as_backward_data(const Roles& roles) {
    if (!all_of(roles, &WindowDimension::stride, 1) || roles.batch_groups != 1) return {};
    Dims spatial;
    for (std::size_t i = 0; i < roles.window.size(); ++i)
        spatial.push_back(std::int64_t(i) + 2);
    const View kernel = reversed_view(roles.kernel, spatial);
    ConvolutionSpec spec{.kind = ConvolutionKind::backward_data,
                         .x = roles.result,
                         // [groups, c/groups, o/groups, ...] -> [groups, o/groups, c/groups, ...]
                         .w = with_swapped(split_first(kernel, roles.feature_groups), 1, 2),
                         .y = roles.input,
                         .strides = {},
                         .dilations = {},
                         .padding_low = {},
                         .padding_high = {}};
    for (const WindowDimension& w : roles.window) {
        spec.strides.push_back(w.base_dilation);
        spec.dilations.push_back(w.window_dilation);
        spec.padding_low.push_back((w.size - 1) * w.window_dilation - w.padding_low);
    }
    derive_padding_high(spec);
    return spec;
}

/// The node is dw = x * dy with batch and features in each other's place: its window steps are the
/// forward dilations, and the other way round.
std::optional<ConvolutionSpec> as_backward_weights(Roles roles) {
    crop(roles);
    if (!all_of(roles, &WindowDimension::base_dilation, 1) || roles.feature_groups != 1) return {};
    const View result = with_swapped(roles.result, 0, 1);    // [o, c/groups, ...]
    ConvolutionSpec spec{.kind = ConvolutionKind::backward_weights,
                         .x = with_swapped(roles.input, 0, 1),
                         .w = split_first(result, roles.batch_groups),
                         .y = with_swapped(roles.kernel, 0, 1),
                         .strides = {},
                         .dilations = {},
                         .padding_low = {},
                         .padding_high = {}};
    for (const WindowDimension& w : roles.window) {
        spec.strides.push_back(w.window_dilation);
        spec.dilations.push_back(w.stride);
        spec.padding_low.push_back(w.padding_low);
    }
    derive_padding_high(spec);
    return spec;
}

bool has_reversed_kernel(const Roles& roles) {
    for (std::size_t i = 2; i < roles.kernel.dims.size(); ++i)
        if (roles.kernel.dims[i] > 1 && roles.kernel.strides[i] < 0) return true;
    return false;
}

Roles roles_of(const ConvolutionViews& views, const ConvolutionAttributes& attributes) {
    return {.input = transposed_view(views.input, attributes.input_layout),
            .kernel = transposed_view(views.kernel, attributes.kernel_layout),
            .result = transposed_view(views.result, attributes.output_layout),
            .window = attributes.window,
            .feature_groups = attributes.feature_groups,
            .batch_groups = attributes.batch_groups};
}

}    // namespace

std::vector<ConvolutionKind> convolution_kinds(const ConvolutionViews& views,
                                               const ConvolutionAttributes& attributes) {
    using enum ConvolutionKind;
    const Roles roles = roles_of(views, attributes);
    std::vector<ConvolutionKind> kinds;
    if (has_reversed_kernel(roles)) kinds.push_back(backward_data);
    if (attributes.input_layout[1] == 0) kinds.push_back(backward_weights);
    for (const ConvolutionKind kind : {forward, backward_data, backward_weights})
        if (std::ranges::count(kinds, kind) == 0) kinds.push_back(kind);
    return kinds;
}

std::optional<ConvolutionSpec> convolution_spec(ConvolutionKind kind, const ConvolutionViews& views,
                                                const ConvolutionAttributes& attributes) {
    const Roles roles = roles_of(views, attributes);
    switch (kind) {
        case ConvolutionKind::forward:
            return as_forward(roles);
        case ConvolutionKind::backward_data:
            return as_backward_data(roles);
        case ConvolutionKind::backward_weights:
            break;
    }
    return as_backward_weights(roles);
}

PatchShape patch_shape_of(const ConvolutionSpec& spec) {
    PatchShape shape{.batch = spec.x.dims[0],
                     .channels = spec.x.dims[1],
                     .offset = spec.x.offset,
                     .image_step = spec.x.strides[0],
                     .row_step = spec.x.strides[2]};
    for (std::size_t i = 0; i < 2; ++i) {
        shape.extents[i] = spec.x.dims[i + 2];
        shape.windows[i] = spec.w.dims[i + 3];
        shape.strides[i] = spec.strides[i];
        shape.dilations[i] = spec.dilations[i];
        shape.padding_low[i] = spec.padding_low[i];
        shape.positions[i] = spec.y.dims[i + 2];
    }
    return shape;
}

}    // namespace slipway
