#pragma once

#include <string>

#include "executor/nn/forward_pass.h"
#include "executor/nn/init.h"
#include "executor/nn/parameter.h"

namespace slipway {

/// Ioffe and Szegedy 2015, as torch.nn.BatchNorm2d: per channel (dimension 1), scale 1 and bias 0
/// at first. Evaluation: by the running statistics. Training:
///   by default   by the mean and variance of the core's own batch; the running statistics move by
///                `momentum` towards the mean over the cores of those (the variance unbiased)
///   with `sync`  as torch.nn.SyncBatchNorm, by the mean and variance over all cores: what one core
///                with the whole batch computes. Two sums over the cores forward, one backward
/// Either way the running statistics are replicated: the same on all cores.
/// Parameters: weight, bias. Statistics: running_mean, running_var. All [channels]. And the count
/// num_batches_tracked.
struct BatchNormalization {
    Tensor weight, bias;
    Tensor running_mean, running_var;
    double epsilon = 1e-5;
    double momentum = 0.1;
    bool sync = false;    ///< with the batches of all cores

    static BatchNormalization create(ParameterList& parameters, const std::string& name,
                                     std::int64_t channels);
    Tensor operator()(const Tensor& x, ForwardPass& pass) const;
    /// The same followed by relu: as one operation its gradient moves less memory.
    Tensor relu(const Tensor& x, ForwardPass& pass) const;

private:
    using Training = decltype(&batch_norm_training);
    Tensor by_own_core(Training normalise, const Tensor& x, ForwardPass& pass) const;
    Tensor by_all_cores(const Tensor& x, ForwardPass& pass) const;
    /// Moves the running statistics towards these, which are replicated; the rate of the variance
    /// is `momentum` with what makes it unbiased.
    void move_statistics(const Tensor& mean, const Tensor& variance, const Tensor& variance_rate,
                         ForwardPass& pass) const;
};

}    // namespace slipway
