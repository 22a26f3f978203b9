#pragma once

#include <cstdint>
#include <vector>

#include "executor/nn/parameter.h"

namespace slipway {

/// Dropout's inputs as inputs, so that every rate, seed and step runs one program.
struct DropoutInputs {
    Tensor rate;            ///< f32 scalar; empty: nothing is dropped
    Tensor key;             ///< u32 [2]: seed and step
    Tensor first_sample;    ///< i32 scalar, per core: the global index of its first sample
};

/// One trace of a network: what its layers need beside their inputs, and what they leave behind.
/// The default is evaluation: no dropout, batch norm by its running statistics.
struct ForwardPass {
    bool training = false;
    /// training: 1 / cores, f32 scalar: what one core counts for in a mean over the cores.
    Tensor core_share = {};
    DropoutInputs dropout = {};
    /// i32 [n, count]: the positions of each sequence where outputs are wanted; empty: everywhere.
    Tensor positions = {};

    /// New values of statistics (ParameterList::add_statistic), replicated.
    struct StatisticUpdate {
        Tensor statistic;
        Tensor value;
    };
    std::vector<StatisticUpdate> updates = {};
    /// Dropouts traced so far: each has random numbers of its own.
    std::uint32_t dropout_count = 0;
};

/// The new values of all statistics in their order; empty for a network without.
/// `pass` was a training pass of the network that made `parameters`.
std::vector<Tensor> new_statistics(const ParameterList& parameters, const ForwardPass& pass);

/// x with each element dropped by chance; x itself when the pass drops nothing. The first
/// dimension of x is the batch.
Tensor dropped(const Tensor& x, ForwardPass& pass);

}    // namespace slipway
