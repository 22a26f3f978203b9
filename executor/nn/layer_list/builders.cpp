#include "executor/nn/layer_list/builders.h"

#include <algorithm>
#include <array>

#include "api/base/error.h"

namespace slipway::layer_list {

namespace {

struct Builder {
    LayerType type;
    BuiltLayer (*build)(const LayerRequest& request);
};

constexpr std::array builders{
    Builder{LayerType::linear, build_linear},
    Builder{LayerType::conv2d, build_conv2d},
    Builder{LayerType::batch_norm, build_batch_norm},
    Builder{LayerType::layer_norm, build_layer_norm},
    Builder{LayerType::relu, build_relu},
    Builder{LayerType::gelu, build_gelu},
    Builder{LayerType::tanh, build_tanh},
    Builder{LayerType::sigmoid, build_sigmoid},
    Builder{LayerType::softmax, build_softmax},
    Builder{LayerType::dropout, build_dropout},
    Builder{LayerType::max_pool, build_max_pool},
    Builder{LayerType::avg_pool, build_avg_pool},
    Builder{LayerType::global_avg_pool, build_global_avg_pool},
    Builder{LayerType::flatten, build_flatten},
    Builder{LayerType::sequence, build_sequence},
    Builder{LayerType::residual, build_residual},
    Builder{LayerType::add, build_add},
    Builder{LayerType::concat, build_concat},
    Builder{LayerType::columns, build_columns},
    Builder{LayerType::embedding, build_embedding},
    Builder{LayerType::sinusoidal_position, build_sinusoidal_position},
};
static_assert(builders.size() == all_words<LayerType>().size());

}    // namespace

BuiltLayer build_layer(const LayerRequest& request) {
    const auto builder = std::ranges::find(builders, request.spec.type, &Builder::type);
    check(builder != builders.end(), "every type of layer has a builder");
    return builder->build(request);
}

}    // namespace slipway::layer_list
