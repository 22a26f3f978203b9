#pragma once

#include "executor/nn/layer_list/layer.h"

namespace slipway::layer_list {

/// Layers one after the other, each reading earlier ones.
struct BuiltList {
    struct Step {
        Forward forward;
        std::vector<std::size_t> sources;    ///< as find_source numbers them
    };
    std::vector<Step> steps;
    Dims dims;    ///< of its result: the last layer's, or its input's when there is none

    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
};

struct ListRequest {
    Maker& maker;
    const std::vector<LayerSpec>& layers;
    std::string path;      ///< "model.layers[3].layers"
    std::string prefix;    ///< of its parameters: "stem."
    Source input;
};

/// errors  invalid_argument as LayerListModel::create
BuiltList build_list(const ListRequest& request);

}    // namespace slipway::layer_list
