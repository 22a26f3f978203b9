#pragma once

#include "api/base/clock.h"
#include "executor/explain/epoch_summary.h"

namespace slipway {

/// Where the time of each epoch goes, and its mean training loss. Training thread only.
class EpochMeter {
public:
    /// The first epoch begins now. `clock` outlives the meter.
    explicit EpochMeter(const Clock& clock) : clock_(&clock), begin_(clock.tick()) {}

    /// A step on `samples` with this mean loss.
    void step(double loss, std::int64_t samples);
    /// From `begin` until now it evaluated, or saved: none of it is training.
    void evaluated_since(Tick begin);
    void saved_since(Tick begin);
    /// What this epoch came to (times, samples, train_loss); the next begins now.
    EpochSummary finish();

private:
    double since(Tick begin) const;

    const Clock* clock_;
    Tick begin_;
    double evaluate_s_ = 0;
    double save_s_ = 0;
    double loss_ = 0;    ///< times samples
    std::int64_t samples_ = 0;
};

}    // namespace slipway
