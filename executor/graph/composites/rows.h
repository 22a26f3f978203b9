#pragma once

#include "executor/graph/composite_table.h"

/// The rows of composite_table.cpp, each made in the file of its family.
namespace slipway::composites {

extern const CompositeRow softmax, cross_entropy, binary_cross_entropy_with_logits, layer_norm,
    layer_norm_grad, gelu, dropout, linear, attention, attention_grad, batch_norm_relu, sgd_update,
    adam_update, clip_by_global_norm;

}    // namespace slipway::composites
