#pragma once

#include <string>

#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// Ioffe and Szegedy 2015, as torch.nn.BatchNorm2d: per channel (dimension 1), scale 1 and offset 0
/// at first. Training: by the mean and variance of the core's own batch; the running statistics
/// move by `momentum` towards the mean over the cores of those (the variance there unbiased).
/// Evaluation: by the running statistics.
/// Parameters: weight, bias. Statistics: running_mean, running_var. All [channels].
struct BatchNormalization {
    Tensor weight, bias;
    Tensor running_mean, running_var;
    double epsilon = 1e-5;
    double momentum = 0.1;

    static BatchNormalization create(ParameterList& parameters, const std::string& name,
                                     std::int64_t channels);
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
    /// The same followed by relu: as one operation its gradient moves less memory.
    Tensor relu(const Tensor& x, ForwardPass& pass) const;

private:
    using Training = decltype(&batch_norm_training);
    Tensor trained(Training normalise, const Tensor& x, ForwardPass& pass) const;
    Tensor evaluated(const Tensor& x) const;
};

}    // namespace slipway
