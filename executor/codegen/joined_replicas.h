#pragma once

#include <cstdint>

#include "executor/program/program.h"

namespace slipway {

struct JoinOptions {
    int workers = 1;              ///< threads that run the blocks of replicas
    int cores = 1;                ///< replicas of all blocks
    bool saves_memory = false;    ///< no more than little
};

/// Places the buffers of a program some steps of which replicas may run together (Step::together),
/// and lets them where that takes little more memory than one after the other, or no more than one
/// core for each worker would with the same batch. Else the steps around which the replicas would
/// hold most are taken apart, until it does; with none, replicas run one after the other.
///
/// replicas  of a block, at least 2
void join_in_little_memory(Program& program, int replicas, const JoinOptions& options);

}    // namespace slipway
