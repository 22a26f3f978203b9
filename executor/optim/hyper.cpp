#include "executor/optim/hyper.h"

#include <cmath>

namespace slipway {

namespace {

constexpr auto slot_count = std::int64_t(HyperSlot::count);

}    // namespace

Array hyper_values(const Hyper& hyper) {
    Array array(Shape{DType::f32, {slot_count}});
    const auto put = [values = array.as<float>()](HyperSlot slot, double value) {
        values[std::size_t(slot)] = float(value);
    };
    const double bias1 = 1.0 - std::pow(hyper.beta1, double(hyper.step));
    const double bias2 = 1.0 - std::pow(hyper.beta2, double(hyper.step));
    put(HyperSlot::lr, hyper.lr);
    put(HyperSlot::momentum, hyper.momentum);
    put(HyperSlot::weight_decay, hyper.weight_decay);
    put(HyperSlot::beta1, hyper.beta1);
    put(HyperSlot::one_minus_beta1, 1.0 - hyper.beta1);
    put(HyperSlot::beta2, hyper.beta2);
    put(HyperSlot::one_minus_beta2, 1.0 - hyper.beta2);
    put(HyperSlot::eps, hyper.eps);
    put(HyperSlot::decay_factor, 1.0 - hyper.lr * hyper.weight_decay);
    put(HyperSlot::step_size, hyper.lr / bias1);
    put(HyperSlot::inverse_sqrt_bias2, 1.0 / std::sqrt(bias2));
    put(HyperSlot::inverse_label_count, 1.0 / hyper.label_count);
    put(HyperSlot::inverse_core_count, 1.0 / hyper.core_count);
    return array;
}

HyperLeaf::HyperLeaf()
    : leaf_(slipway::leaf({DType::f32, {slot_count}}, Placement::replicated, "hyper")) {}

Tensor HyperLeaf::scalar(HyperSlot slot) const {
    const auto at = std::int64_t(slot);
    return reshape(slice(leaf_, {at}, {at + 1}, {1}), {});
}

}    // namespace slipway
