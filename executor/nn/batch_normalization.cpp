#include "executor/nn/batch_normalization.h"

namespace slipway {

namespace {

constexpr std::int64_t channel_dimension = 1;

bool is_per_core(const Tensor& x) {
    return x.node().placement == Placement::per_core;
}

Tensor mean_over_cores(const Tensor& x, const ForwardPass& pass) {
    return is_per_core(x) ? all_reduce(x * pass.core_share) : x;
}

Dims dimensions_but_channel(const Tensor& x) {
    Dims dimensions;
    for (std::int64_t i = 0; i < x.shape().rank(); ++i)
        if (i != channel_dimension) dimensions.push_back(i);
    return dimensions;
}

/// Elements of each channel on this core.
double samples_of(const Tensor& x) {
    return double(x.shape().element_count()) / double(x.dims()[channel_dimension]);
}

}    // namespace

BatchNormalization BatchNormalization::create(ParameterList& parameters, const std::string& name,
                                              std::int64_t channels) {
    BatchNormalization layer;
    layer.weight = parameters.add(name + ".weight", filled({channels}, 1));
    layer.bias = parameters.add(name + ".bias", filled({channels}, 0));
    layer.running_mean = parameters.add_statistic(name + ".running_mean", filled({channels}, 0));
    layer.running_var = parameters.add_statistic(name + ".running_var", filled({channels}, 1));
    parameters.add_batch_count(name + ".num_batches_tracked");
    return layer;
}

Tensor BatchNormalization::operator()(const Tensor& x, ForwardPass& pass) const {
    if (!pass.training) {
        return batch_norm_inference(x, weight, bias, running_mean, running_var, epsilon,
                                    channel_dimension);
    }
    return sync ? by_all_cores(x, pass) : by_own_core(batch_norm_training, x, pass);
}

Tensor BatchNormalization::relu(const Tensor& x, ForwardPass& pass) const {
    if (pass.training && !sync) return by_own_core(batch_norm_relu, x, pass);
    return slipway::relu((*this)(x, pass));
}

Tensor BatchNormalization::by_own_core(Training normalise, const Tensor& x,
                                       ForwardPass& pass) const {
    const BatchNorm norm = normalise(x, weight, bias, epsilon, channel_dimension);
    const double count = samples_of(x);
    move_statistics(mean_over_cores(norm.mean, pass), mean_over_cores(norm.variance, pass),
                    constant(momentum * (count / (count - 1))), pass);
    return norm.y;
}

Tensor BatchNormalization::by_all_cores(const Tensor& x, ForwardPass& pass) const {
    const auto mean_of = [&](const Tensor& values) {
        const Tensor sum = reduce(values, dimensions_but_channel(x), Reduction::add);
        return mean_over_cores(sum * constant(1 / samples_of(x)), pass);
    };
    const Tensor mean = mean_of(x);
    // Around its mean a variance is least: it does not move with the mean, and nothing flows.
    const Tensor centered =
        x - broadcast_in_dim(stop_gradient(mean), x.dims(), {channel_dimension});
    const Tensor variance = mean_of(centered * centered);
    // n / (n - 1) is 1 / (1 - 1/n), and 1/n over all cores is a core's times what a core counts.
    Tensor inverse_count = constant(1 / samples_of(x));
    if (is_per_core(x)) inverse_count = inverse_count * pass.core_share;
    move_statistics(mean, variance, constant(momentum) / (constant(1) - inverse_count), pass);
    return batch_norm_inference(x, weight, bias, mean, variance, epsilon, channel_dimension);
}

void BatchNormalization::move_statistics(const Tensor& mean, const Tensor& variance,
                                         const Tensor& variance_rate, ForwardPass& pass) const {
    const auto moved = [&](const Tensor& running, const Tensor& batch, const Tensor& rate) {
        return running * constant(1 - momentum) + batch * rate;
    };
    pass.updates.push_back({running_mean, moved(running_mean, mean, constant(momentum))});
    pass.updates.push_back({running_var, moved(running_var, variance, variance_rate)});
}

}    // namespace slipway
