#include <fmt/format.h>

#include <algorithm>

#include "executor/nn/layer_list/builders.h"
#include "executor/nn/layer_list/list.h"

namespace slipway::layer_list {

namespace {

/// One of the lists of a block: model.layers[3].shortcut, its parameters named as said.
BuiltList build_inner(const LayerRequest& request, const std::vector<LayerSpec>& layers,
                      std::string_view field, std::string prefix) {
    return build_list({.maker = request.maker,
                       .layers = layers,
                       .path = fmt::format("{}.{}", request.path, field),
                       .prefix = std::move(prefix),
                       .input = request.inputs.front()});
}

}    // namespace

BuiltLayer build_sequence(const LayerRequest& request) {
    const BuiltList list = build_inner(request, request.spec.layers, "layers", request.name + ".");
    return {
        [list](std::span<const Tensor> inputs, ForwardPass& pass) { return list(inputs[0], pass); },
        list.dims};
}

BuiltLayer build_residual(const LayerRequest& request) {
    const LayerSpec& spec = request.spec;
    const BuiltList layers = build_inner(request, spec.layers, "layers", request.name + ".layers.");
    const BuiltList shortcut =
        build_inner(request, spec.shortcut, "shortcut", request.name + ".shortcut.");
    if (layers.dims != shortcut.dims) {
        const char* advice = spec.shortcut.empty()
                                 ? "give it a shortcut, such as a conv2d with kernel_size 1"
                                 : "change its shortcut";
        refuse(request, fmt::format("layers and shortcut of one shape, and they are {} and {} ({})",
                                    shown(layers.dims), shown(shortcut.dims), advice));
    }
    return {[layers, shortcut](std::span<const Tensor> inputs, ForwardPass& pass) {
                const Tensor y = layers(inputs[0], pass);
                return y + shortcut(inputs[0], pass);
            },
            layers.dims};
}

BuiltLayer build_add(const LayerRequest& request) {
    const auto is_alike = [&](const Source& input) { return input.dims == request.input(); };
    if (!std::ranges::all_of(request.inputs, is_alike)) refuse(request, "inputs of one shape");
    return {[](std::span<const Tensor> inputs, ForwardPass&) {
                Tensor sum = inputs[0];
                for (const Tensor& input : inputs.subspan(1))
                    sum = sum + input;
                return sum;
            },
            request.input()};
}

}    // namespace slipway::layer_list
