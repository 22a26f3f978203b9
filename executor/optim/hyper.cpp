#include "executor/optim/hyper.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace slipway {

namespace {

constexpr auto slot_count = std::size_t(HyperSlot::count);

/// The slots that each group has its own of.
constexpr std::array group_slots{HyperSlot::lr, HyperSlot::decay_factor, HyperSlot::step_size};

std::int64_t value_count(std::size_t groups) {
    return std::int64_t(slot_count + (groups - 1) * group_slots.size());
}

std::size_t position_of(HyperSlot slot, std::size_t group) {
    const auto own = std::ranges::find(group_slots, slot);
    if (group == 0 || own == group_slots.end()) return std::size_t(slot);
    return slot_count + (group - 1) * group_slots.size() + std::size_t(own - group_slots.begin());
}

}    // namespace

Array hyper_values(const Hyper& hyper) {
    Array array(Shape{DType::f32, {value_count(1 + hyper.lr_scales.size())}});
    const auto put = [values = array.as<float>()](HyperSlot slot, double value,
                                                  std::size_t group = 0) {
        values[position_of(slot, group)] = float(value);
    };
    const double bias1 = 1.0 - std::pow(hyper.beta1, double(hyper.step));
    const double bias2 = 1.0 - std::pow(hyper.beta2, double(hyper.step));
    put(HyperSlot::momentum, hyper.momentum);
    put(HyperSlot::weight_decay, hyper.weight_decay);
    put(HyperSlot::beta1, hyper.beta1);
    put(HyperSlot::one_minus_beta1, 1.0 - hyper.beta1);
    put(HyperSlot::beta2, hyper.beta2);
    put(HyperSlot::one_minus_beta2, 1.0 - hyper.beta2);
    put(HyperSlot::eps, hyper.eps);
    put(HyperSlot::inverse_sqrt_bias2, 1.0 / std::sqrt(bias2));
    put(HyperSlot::inverse_label_count, hyper.label_count > 0 ? 1.0 / hyper.label_count : 0.0);
    put(HyperSlot::inverse_core_count, 1.0 / hyper.core_count);
    put(HyperSlot::inverse_bias1, 1.0 / bias1);
    put(HyperSlot::clip_norm, hyper.clip_norm);
    put(HyperSlot::ema_decay, hyper.ema_decay);
    put(HyperSlot::one_minus_ema_decay, 1.0 - hyper.ema_decay);
    for (std::size_t group = 0; group <= hyper.lr_scales.size(); ++group) {
        const double lr = group == 0 ? hyper.lr : hyper.lr * hyper.lr_scales[group - 1];
        put(HyperSlot::lr, lr, group);
        put(HyperSlot::decay_factor, 1.0 - lr * hyper.weight_decay, group);
        put(HyperSlot::step_size, lr / bias1, group);
    }
    return array;
}

HyperInput::HyperInput(std::size_t groups)
    : input_(slipway::input({DType::f32, {value_count(groups)}}, Placement::replicated, "hyper")) {}

Tensor HyperInput::scalar(HyperSlot slot, std::size_t group) const {
    const auto at = std::int64_t(position_of(slot, group));
    return reshape(slice(input_, {at}, {at + 1}, {1}), {});
}

}    // namespace slipway
