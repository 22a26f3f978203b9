#include "executor/train/architectures/architecture.h"

#include "executor/nn/models/mlp.h"

namespace slipway {

void build_mlp(Model& model, Init& init, const NetworkRequest& request) {
    const ModelSpec& spec = request.spec.model;
    const std::int64_t features = Shape{DType::f32, request.sample_dims}.element_count();
    const auto hidden =
        spec.hidden.value_or(std::vector<std::int64_t>(std::size_t(spec.depth), spec.width));
    model.forward =
        without_pass(Mlp::create(model.parameters, init, features, hidden, request.classes));
}

}    // namespace slipway
