#include "executor/nn/batch_normalization.h"

namespace slipway {

namespace {

constexpr std::int64_t channel_dimension = 1;

Tensor mean_over_cores(const Tensor& x, const ForwardPass& pass) {
    if (x.node().placement == Placement::replicated) return x;
    return all_reduce(x * pass.core_share);
}

}    // namespace

BatchNormalization BatchNormalization::create(ParameterList& parameters, const std::string& name,
                                              std::int64_t channels) {
    BatchNormalization layer;
    layer.weight = parameters.add(name + ".weight", filled({channels}, 1));
    layer.bias = parameters.add(name + ".bias", filled({channels}, 0));
    layer.running_mean = parameters.add_statistic(name + ".running_mean", filled({channels}, 0));
    layer.running_var = parameters.add_statistic(name + ".running_var", filled({channels}, 1));
    return layer;
}

Tensor BatchNormalization::operator()(const Tensor& x, ForwardPass& pass) const {
    return pass.training ? trained(batch_norm_training, x, pass) : evaluated(x);
}

Tensor BatchNormalization::relu(const Tensor& x, ForwardPass& pass) const {
    return pass.training ? trained(batch_norm_relu, x, pass) : slipway::relu(evaluated(x));
}

Tensor BatchNormalization::trained(Training normalise, const Tensor& x, ForwardPass& pass) const {
    const BatchNorm norm = normalise(x, weight, bias, epsilon, channel_dimension);
    const auto count = double(x.shape().element_count() / x.dims()[channel_dimension]);
    const auto moved = [&](const Tensor& running, const Tensor& batch, double scale) {
        return running * constant(1 - momentum) +
               mean_over_cores(batch, pass) * constant(momentum * scale);
    };
    pass.updates.push_back({running_mean, moved(running_mean, norm.mean, 1)});
    pass.updates.push_back({running_var, moved(running_var, norm.variance, count / (count - 1))});
    return norm.y;
}

Tensor BatchNormalization::evaluated(const Tensor& x) const {
    return batch_norm_inference(x, weight, bias, running_mean, running_var, epsilon,
                                channel_dimension);
}

}    // namespace slipway
