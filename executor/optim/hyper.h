#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "executor/graph/ops.h"

namespace slipway {

/// The numbers of one optimizer step. They are inputs of the program, not part of it: every
/// learning rate of a sweep runs the same compiled step. What a step does not use is ignored.
struct Hyper {
    double lr = 0;
    double momentum = 0;
    double weight_decay = 0;
    double beta1 = 0;
    double beta2 = 0;
    double eps = 0;
    double clip_norm = 0;
    double ema_decay = 0;
    /// What the learning rate is multiplied by in each group of parameters but group 0, where it
    /// is as it is.
    std::vector<double> lr_scales = {};
    std::int64_t step = 1;    ///< 1 for the first update
    /// Of the whole step: the loss is a mean over them. 0: a step without labels, whose gradients
    /// are zero.
    double label_count = 1;
    int core_count = 1;
};

/// Slots of the one small vector that carries them to the program. Slots are fixed: equal values
/// never merge.
enum class HyperSlot : std::size_t {
    lr,
    momentum,
    weight_decay,
    beta1,
    one_minus_beta1,
    beta2,
    one_minus_beta2,
    eps,
    decay_factor,          ///< 1 - lr * weight_decay
    step_size,             ///< lr / (1 - beta1^step)
    inverse_sqrt_bias2,    ///< 1 / sqrt(1 - beta2^step)
    inverse_label_count,
    inverse_core_count,
    inverse_bias1,    ///< 1 / (1 - beta1^step)
    clip_norm,
    ema_decay,
    one_minus_ema_decay,
    count
};

/// f32: HyperSlot::count numbers, then lr, decay_factor and step_size of each group of lr_scales.
/// Derived values are computed in double and rounded once.
Array hyper_values(const Hyper& hyper);

/// The input of that vector, and its scalars by slot and group.
class HyperInput {
public:
    /// `groups`: 1 more than Hyper::lr_scales has.
    explicit HyperInput(std::size_t groups = 1);
    const Tensor& input() const { return input_; }
    Tensor scalar(HyperSlot slot, std::size_t group = 0) const;

private:
    Tensor input_;
};

}    // namespace slipway
