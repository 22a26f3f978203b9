#include "executor/nn/batch_normalization.h"
#include "executor/nn/layer_list/builders.h"
#include "executor/nn/layer_normalization.h"

namespace slipway::layer_list {

BuiltLayer build_batch_norm(const LayerRequest& request) {
    const Dims& dims = request.input();
    const std::int64_t values =
        request.maker.batch_size * Shape{DType::f32, dims}.element_count() / dims[0];
    if (values < 2) {
        refuse(request,
               "more than one value for each channel, and train.batch_size_per_core is 1 "
               "(set it to 2 or more)");
    }
    BatchNormalization norm =
        BatchNormalization::create(request.maker.parameters, request.name, dims[0]);
    norm.epsilon = request.spec.eps;
    norm.momentum = request.spec.momentum;
    norm.sync = request.maker.sync_norms;
    const bool relu_follows = request.relu_follows;
    return {[norm, relu_follows](std::span<const Tensor> inputs, ForwardPass& pass) {
                return relu_follows ? norm.relu(inputs[0], pass) : norm(inputs[0], pass);
            },
            dims};
}

BuiltLayer build_layer_norm(const LayerRequest& request) {
    const Dims& dims = request.input();
    const auto norm = LayerNormalization::create(request.maker.parameters, request.name,
                                                 dims.back(), request.spec.eps);
    return {forward_of(norm), dims};
}

}    // namespace slipway::layer_list
