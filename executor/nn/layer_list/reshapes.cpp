#include <algorithm>

#include "executor/nn/layer_list/builders.h"

namespace slipway::layer_list {

BuiltLayer build_flatten(const LayerRequest& request) {
    return {forward_of([](const Tensor& x) {
                const std::int64_t n = x.dims()[0];
                return reshape(x, {n, x.shape().element_count() / n});
            }),
            {Shape{DType::f32, request.input()}.element_count()}};
}

BuiltLayer build_concat(const LayerRequest& request) {
    const auto rest_of = [](const Dims& dims) { return Dims(dims.begin() + 1, dims.end()); };
    Dims dims = request.input();
    dims[0] = 0;
    for (const Source& input : request.inputs) {
        if (rest_of(input.dims) != rest_of(dims))
            refuse(request, "inputs that differ in their first extent alone");
        dims[0] += input.dims[0];
    }
    return {[](std::span<const Tensor> inputs, ForwardPass&) {
                return concatenate({inputs.begin(), inputs.end()}, 1);
            },
            std::move(dims)};
}

}    // namespace slipway::layer_list
