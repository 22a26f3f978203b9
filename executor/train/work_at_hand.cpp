#include "executor/train/work_at_hand.h"

namespace slipway {

void WorkAtHand::begin_program(std::string_view name) {
    if (name == program_) return;
    program_ = name;
    if (position_ != nullptr) set_program(*position_, name);
}

void WorkAtHand::begin_batch(const SamplerPosition& batch, std::int64_t step) {
    batch_ = batch;
    is_step_ended_ = false;
    if (position_ == nullptr) return;
    position_->step = step + 1;
    position_->epoch = batch.epoch + 1;
    position_->batch = batch.batch;
}

FailedWork WorkAtHand::failed(std::int64_t step, const std::optional<FailedStep>& failed) const {
    return {.step = batch_ && !is_step_ended_ ? step + 1 : step,
            .batch = batch_,
            .program = program_,
            .failed = failed,
            .position = position_};
}

}    // namespace slipway
