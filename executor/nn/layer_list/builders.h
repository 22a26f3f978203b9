#pragma once

#include "executor/nn/layer_list/layer.h"

/// How each type of layer is built: one function for each, in the file of its family.
namespace slipway::layer_list {

// products.cpp
BuiltLayer build_linear(const LayerRequest& request);
BuiltLayer build_conv2d(const LayerRequest& request);
// norms.cpp
BuiltLayer build_batch_norm(const LayerRequest& request);
BuiltLayer build_layer_norm(const LayerRequest& request);
// columns.cpp
BuiltLayer build_columns(const LayerRequest& request);
BuiltLayer build_embedding(const LayerRequest& request);
// positions.cpp
BuiltLayer build_sinusoidal_position(const LayerRequest& request);
// activations.cpp
BuiltLayer build_relu(const LayerRequest& request);
BuiltLayer build_gelu(const LayerRequest& request);
BuiltLayer build_tanh(const LayerRequest& request);
BuiltLayer build_sigmoid(const LayerRequest& request);
BuiltLayer build_softmax(const LayerRequest& request);
BuiltLayer build_dropout(const LayerRequest& request);
// pools.cpp
BuiltLayer build_max_pool(const LayerRequest& request);
BuiltLayer build_avg_pool(const LayerRequest& request);
BuiltLayer build_global_avg_pool(const LayerRequest& request);
// reshapes.cpp
BuiltLayer build_flatten(const LayerRequest& request);
BuiltLayer build_concat(const LayerRequest& request);
// blocks.cpp
BuiltLayer build_sequence(const LayerRequest& request);
BuiltLayer build_residual(const LayerRequest& request);
BuiltLayer build_add(const LayerRequest& request);

/// Of any type.
BuiltLayer build_layer(const LayerRequest& request);

}    // namespace slipway::layer_list
