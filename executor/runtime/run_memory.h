#pragma once

#include <vector>

#include "executor/program/program.h"
#include "executor/program/team.h"
#include "executor/runtime/arena.h"

namespace slipway {

/// Memory of all workers for one program at a time.
struct RunMemory {
    explicit RunMemory(const Team& team);

    /// What this program needs; grows to the largest program.
    /// errors  exhausted when the system gives no memory
    void reserve(const Program& program);

    std::vector<Arena> worker;    ///< by worker
    std::vector<Arena> core;      ///< by core, or by block where replicas run together
    Arena shared;
    std::vector<Arena> roots;                    ///< region sum, partial 0, by block
    std::vector<std::vector<Arena>> partials;    ///< partials 1.., by worker
};

}    // namespace slipway
