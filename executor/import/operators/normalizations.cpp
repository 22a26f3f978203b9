#include <array>
#include "executor/import/operators/parts.h"
#include "executor/import/operators/rows.h"
#include "executor/nn/batch_normalization.h"

#include <fmt/format.h>

namespace slipway::importer {

namespace {

constexpr double default_epsilon = 1e-5;

Tensor or_filled(const Tensor& given, const Dims& dims, double value) {
    return given.empty() ? broadcast(constant(value), dims) : given;
}

/// Channels are dimension 1.
BatchNormalization batch_norm_of(const Call& call, const Tensor& x) {
    const Dims channels{x.dims().at(1)};
    BatchNormalization norm;
    norm.weight = or_filled(call.tensor_or_empty("weight"), channels, 1);
    norm.bias = or_filled(call.tensor_or_empty("bias"), channels, 0);
    norm.running_mean = call.tensor_or_empty("running_mean");
    norm.running_var = call.tensor_or_empty("running_var");
    norm.epsilon = call.number("eps", default_epsilon);
    norm.momentum = call.number("momentum", 0.1);
    norm.sync = call.trace().sync_norms;
    return norm;
}

void require_variance(const Call& call, const Tensor& x) {
    const std::int64_t values =
        x.shape().element_count() / std::max<std::int64_t>(1, x.dims().at(1));
    if (values > 1 || call.trace().sync_norms) return;
    call.refuse(
        "needs more than one value for each channel, and train.batch_size_per_core is 1; "
        "set it to 2 or more");
}

/// Frozen where the module was: its statistics are used and do not move.
Tensor batch_norm(const Call& call, bool relu_follows) {
    const Tensor x = as_floating(call.tensor("input"));
    if (x.dims().size() < 2) call.refuse("needs a batch and channels");
    const BatchNormalization norm = batch_norm_of(call, x);
    ForwardPass& pass = call.trace().pass;
    const bool has_statistics = !norm.running_mean.empty();
    const bool by_batch = call.flag("training", call.flag("use_input_stats", true));
    if (by_batch && has_statistics) {
        if (pass.training) require_variance(call, x);
        return relu_follows ? norm.relu(x, pass) : norm(x, pass);
    }
    // Weights that are standardised: the same in training and evaluation, whatever the batch.
    if (by_batch && x.node().placement == Placement::replicated) {
        const Tensor y = batch_norm_training(x, norm.weight, norm.bias, norm.epsilon, 1).y;
        return relu_follows ? relu(y) : y;
    }
    if (by_batch || !has_statistics)    // torch's track_running_stats=False: always by the batch
        call.refuse(
            "has no running statistics, so evaluation would depend on the other samples of "
            "the batch; build the module with track_running_stats=True");
    const Tensor y = batch_norm_inference(x, norm.weight, norm.bias, norm.running_mean,
                                          norm.running_var, norm.epsilon, 1);
    return relu_follows ? relu(y) : y;
}

Value lower_batch_norm(const Call& call) {
    return {batch_norm(call, false)};
}

/// Of the last dimensions, as many as normalized_shape has.
Value lower_layer_norm(const Call& call) {
    const Tensor x = as_floating(call.tensor("input"));
    const std::size_t count = call.integers("normalized_shape").size();
    const Dims dims = x.dims();
    if (count == 0 || count > dims.size()) call.refuse("normalises more dimensions than there are");
    Dims rows(dims.begin(), dims.end() - std::ptrdiff_t(count));
    std::int64_t features = 1;
    for (std::size_t i = rows.size(); i < dims.size(); ++i)
        features *= dims.at(i);
    rows.push_back(features);
    const auto flat = [&](const Tensor& one) {
        return one.empty() ? one : reshape(one, {features});
    };
    return {
        reshape(normalized(reshape(x, rows), flat(call.tensor_or_empty("weight")),
                           flat(call.tensor_or_empty("bias")), call.number("eps", default_epsilon)),
                dims)};
}

Value lower_rms_norm(const Call& call) {
    const Tensor x = as_floating(call.tensor("input"));
    const std::int64_t count = std::int64_t(call.integers("normalized_shape").size());
    Dims last;
    for (std::int64_t i = x.shape().rank() - count; i < x.shape().rank(); ++i)
        last.push_back(i);
    constexpr double smallest_step = 1.1920928955078125e-07;    // torch.finfo(float32).eps
    const Tensor square = mean_of(x * x, last, true);
    const Tensor y =
        x * expanded(call, rsqrt(square + number_like(square, call.number("eps", smallest_step))),
                     x.dims());
    const Tensor weight = call.tensor_or_empty("weight");
    return {weight.empty() ? y : y * expanded(call, weight, x.dims())};
}

/// Channels in groups, each normalised with all of its pixels.
Tensor by_groups(const Call& call, const Tensor& x, std::int64_t groups, const Tensor& weight,
                 const Tensor& bias) {
    const Dims& dims = x.dims();
    const std::int64_t channels = dims.at(1);
    if (groups < 1 || channels % groups != 0)
        call.refuse(fmt::format("has {} groups for {} channels", groups, channels));
    const std::int64_t rest =
        x.shape().element_count() / std::max<std::int64_t>(1, dims.at(0) * groups);
    Tensor y = reshape(normalized(reshape(x, {dims.at(0), groups, rest}), {}, {},
                                  call.number("eps", default_epsilon)),
                       dims);
    if (!weight.empty()) y = y * broadcast_in_dim(weight, dims, {1});
    return bias.empty() ? y : y + broadcast_in_dim(bias, dims, {1});
}

Value lower_group_norm(const Call& call) {
    return {by_groups(call, as_floating(call.tensor("input")), call.integer("num_groups"),
                      call.tensor_or_empty("weight"), call.tensor_or_empty("bias"))};
}

Value lower_instance_norm(const Call& call) {
    const Tensor x = as_floating(call.tensor("input"));
    if (!call.flag("use_input_stats", true))
        return {batch_norm_inference(x,
                                     or_filled(call.tensor_or_empty("weight"), {x.dims().at(1)}, 1),
                                     or_filled(call.tensor_or_empty("bias"), {x.dims().at(1)}, 0),
                                     call.tensor("running_mean"), call.tensor("running_var"),
                                     call.number("eps", default_epsilon), 1)};
    if (call.has("running_mean"))
        call.refuse("with track_running_stats=True is not lowered; build it without");
    return {by_groups(call, x, x.dims().at(1), call.tensor_or_empty("weight"),
                      call.tensor_or_empty("bias"))};
}

constexpr auto normalizations_table = std::to_array<OperatorRow>({
    {"aten.batch_norm", lower_batch_norm},
    {"aten.group_norm", lower_group_norm},
    {"aten.instance_norm", lower_instance_norm},
    {"aten.layer_norm", lower_layer_norm},
    {"aten.rms_norm", lower_rms_norm},
});

}    // namespace

Tensor batch_norm_then_relu(const Call& call) {
    return batch_norm(call, true);
}

std::span<const OperatorRow> normalization_rows() {
    return normalizations_table;
}

}    // namespace slipway::importer
