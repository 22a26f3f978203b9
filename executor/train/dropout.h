#pragma once

#include <cstdint>

#include "executor/data/loader.h"
#include "executor/nn/forward_pass.h"
#include "executor/train/step_bindings.h"

/// What a training step's dropout reads: inputs of its program, so that neither rate, seed nor step
/// is part of it.
namespace slipway {

/// Inputs for a network with this rate; empty handles when it drops nothing.
DropoutInputs dropout_inputs(double rate);

/// What a job's dropout is drawn from.
struct DropoutSource {
    double rate = 0;
    std::uint64_t seed = 0;
    std::int64_t batches_per_step = 1;
};

/// Sets the values of these inputs for a batch of a step (0-based); none when the rate is 0. A
/// sample's mask is a function of seed, step and its place in the step alone: the same after a
/// resumption, and for any number of threads.
void set_dropout(StepValues& values, const DropoutSource& source, std::int64_t step,
                 const LoadedBatch& batch);

}    // namespace slipway
