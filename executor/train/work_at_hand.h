#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/protocol/run_position.h"
#include "executor/data/sampler.h"
#include "executor/train/failed_work.h"

namespace slipway {

/// The batch and the program that a run has begun, for whoever asks after a failure; the position
/// says the same to whoever outlives a crash. For the training thread alone.
class WorkAtHand {
public:
    /// position  outlives this; null: nobody reads it
    explicit WorkAtHand(RunPosition* position) : position_(position) {}

    /// name  a literal
    void begin_program(std::string_view name);
    /// step  the steps that are done
    void begin_batch(const SamplerPosition& batch, std::int64_t step);
    /// The step of the batch is done, and counts from here on.
    void end_step() { is_step_ended_ = true; }

    /// step  the steps that are done
    /// failed  of the program, if it was one of its steps
    FailedWork failed(std::int64_t step, const std::optional<FailedStep>& failed) const;

private:
    RunPosition* const position_;
    std::string_view program_{};                // a literal; empty: none yet
    std::optional<SamplerPosition> batch_{};    // the last that was begun
    bool is_step_ended_ = false;
};

}    // namespace slipway
