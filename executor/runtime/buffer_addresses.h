#pragma once

#include <cstddef>
#include <span>

#include "executor/program/program.h"
#include "executor/runtime/run.h"
#include "executor/runtime/run_memory.h"
#include "executor/runtime/run_plan.h"

namespace slipway {

/// Where the buffers of a run are for one worker: in the caller's memory, in the program's
/// constants or in the arenas. All that it points to must outlive it. Writes nothing: any thread
/// may ask.
struct BufferAddresses {
    const Program& program;
    const RunPlan& plan;
    const Bindings& bindings;
    RunMemory& memory;
    int worker;

    /// While this worker computes for `core`.
    std::byte* of(BufferId id, std::size_t core) const;

    /// Of every buffer, by its number, while this worker computes for `core`.
    void all_of(std::size_t core, std::span<std::byte*> addresses) const;

    /// Of partial sum `index` of a block (reduction_tree.h).
    std::byte* partial(const Sum& sum, std::size_t block, int index) const;
};

}    // namespace slipway
