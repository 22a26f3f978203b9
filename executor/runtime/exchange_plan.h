#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/program/program.h"
#include "executor/runtime/collectives.h"
#include "executor/runtime/process_sums.h"
#include "executor/runtime/sharded_update.h"

namespace slipway {

/// Sums of one stage that are combined with those of other processes together, while the workers go
/// on; or inputs whose shards the processes have updated in steps of this stage.
struct ExchangePart {
    std::size_t stage = 0;
    std::vector<std::size_t> sums;    ///< of the stage
    /// The step after which they are complete in this process, a block step or that of an update;
    /// none: the end of the cores' work (by_block false) or of all block steps.
    std::size_t last_step = 0;
    bool ends_with_step = false;
    bool by_block = false;
    std::vector<std::size_t> gathered = {};    ///< inputs, instead of sums
};

/// What the processes combine in one run of a program, and what waits for it. The same in all
/// processes that run the same program: they exchange the parts in this order.
struct ExchangePlan {
    std::vector<ExchangePart> parts;
    /// By step: so many parts, the first ones, have been combined before it runs.
    std::vector<std::uint32_t> needed;
    bool has_several_blocks = false;    ///< of cores, in this process
    ShardPlan shards;
};

/// `cores`: of this process. `update`: none: every process does every update.
ExchangePlan make_exchange_plan(const Program& program, int cores,
                                const std::optional<ShardedUpdate>& update = {});

/// Where the memory of a run lies: the first byte of region sum, and the inputs by position.
struct ExchangeMemory {
    std::byte* sums = nullptr;
    std::span<const std::vector<std::byte*>> inputs;
};

/// What this process has of each part.
std::vector<std::vector<ProcessValues>> values_of_parts(const Program& program,
                                                        const ExchangePlan& plan,
                                                        const ExchangeMemory& memory);

/// Bytes that exchanging these parts takes beside the values themselves.
std::int64_t exchange_bytes(const Program& program, const ExchangePlan& plan,
                            const Collectives& collectives);

}    // namespace slipway
