#include "executor/train/epoch_meter.h"

#include <algorithm>

namespace slipway {

void EpochMeter::step(double loss, std::int64_t samples) {
    loss_ += loss * double(samples);
    samples_ += samples;
}

void EpochMeter::evaluated_since(Tick begin) {
    evaluate_s_ += since(begin);
}

void EpochMeter::saved_since(Tick begin) {
    save_s_ += since(begin);
}

EpochSummary EpochMeter::finish() {
    EpochSummary summary;
    summary.train_s = std::max(0.0, since(begin_) - evaluate_s_ - save_s_);
    summary.evaluate_s = evaluate_s_;
    summary.samples = samples_;
    if (summary.train_s > 0) summary.samples_per_s = double(samples_) / summary.train_s;
    if (samples_ > 0) summary.values.emplace_back("train_loss", loss_ / double(samples_));
    begin_ = clock_->tick();
    evaluate_s_ = save_s_ = loss_ = 0;
    samples_ = 0;
    return summary;
}

double EpochMeter::since(Tick begin) const {
    return std::chrono::duration<double>(clock_->tick() - begin).count();
}

}    // namespace slipway
