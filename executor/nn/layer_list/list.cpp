#include "executor/nn/layer_list/list.h"

#include <fmt/format.h>

#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

namespace {

using Layers = std::vector<LayerSpec>;

/// Whether layer `index` is a batch norm that only a relu right behind it reads.
bool relu_follows(const Layers& layers, const std::vector<std::size_t>& readers,
                  std::size_t index) {
    return layers[index].type == LayerType::batch_norm && index + 1 < layers.size() &&
           layers[index + 1].type == LayerType::relu && readers[index + 1] == 1 &&
           sources_of(layers, index + 1) == std::vector{index + 1};
}

/// Shapes grow by joining: what no machine holds is refused before it overflows.
void require_small(const LayerRequest& request, const Dims& dims) {
    constexpr std::int64_t elements_max = 1LL << 31;
    const std::int64_t elements = Shape{DType::f32, dims}.element_count();
    if (elements <= elements_max) return;
    refuse(request, fmt::format("a result of at most {} numbers for each sample, and it would be "
                                "{}",
                                elements_max, shown(dims)));
}

}    // namespace

Tensor BuiltList::operator()(const Tensor& x, ForwardPass& pass) const {
    std::vector<Tensor> results{x};
    for (const Step& step : steps) {
        std::vector<Tensor> inputs;
        for (const std::size_t source : step.sources)
            inputs.push_back(results[source]);
        results.push_back(step.forward(inputs, pass));
    }
    return results.back();
}

BuiltList build_list(const ListRequest& request) {
    const Layers& layers = request.layers;
    const std::vector<std::size_t> readers = reader_counts(layers);
    std::vector<Source> sources{request.input};
    BuiltList list;
    bool relu_done = false;
    for (std::size_t index = 0; index < layers.size(); ++index) {
        const std::vector<std::size_t> read = sources_of(layers, index);
        LayerRequest layer{.maker = request.maker,
                           .spec = layers[index],
                           .path = fmt::format("{}[{}]", request.path, index),
                           .name = request.prefix + name_in(layers, index),
                           .inputs = {},
                           .relu_follows = relu_follows(layers, readers, index)};
        for (const std::size_t source : read)
            layer.inputs.push_back(sources[source]);
        BuiltLayer built =
            relu_done ? BuiltLayer{forward_of([](const Tensor& x) { return x; }), layer.input()}
                      : build_layer(layer);
        require_small(layer, built.dims);
        relu_done = layer.relu_follows;
        sources.push_back({built.dims, described(layer.spec, layer.path), built.columns});
        list.steps.push_back({std::move(built.forward), read});
    }
    list.dims = sources.back().dims;
    return list;
}

}    // namespace slipway::layer_list
