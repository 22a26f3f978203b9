#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "executor/codegen/loops/loop_kernel.h"

namespace slipway {

/// How the loops of a kernel run: which pass over the row computes what, and where the scratch
/// memory's parts lie. A pure function of the kernel: the order of all sums follows from it.
struct LoopPlan {
    /// How often a value is computed.
    enum class Level : std::uint8_t {
        row,     ///< once per row
        line,    ///< once per run of the last loop: the other inner loops move it
        lane     ///< at every element
    };
    std::vector<Level> levels;    ///< by value
    /// By value: the first pass in which it can be had; of a row's value, before that pass begins.
    std::vector<std::size_t> passes;
    std::size_t pass_count = 1;

    /// By value: where each row's elements are kept from the pass that computes them for later
    /// ones, in bytes of scratch memory; nothing when they are not kept.
    std::vector<std::optional<std::int64_t>> kept;

    /// By store: of a column store, the bytes at which its partial sums begin, one array for each
    /// level. Each level takes over the one before after `rows_per_level` of its rows.
    std::vector<std::vector<std::int64_t>> partials;
    static constexpr std::int64_t rows_per_level = 64;

    /// Elements of one inner run in scratch memory, the last loop rounded up to whole vectors.
    std::int64_t padded_elements = 0;
    std::int64_t padded_last = 0;
    std::int64_t scratch_bytes = 0;
};

LoopPlan plan_of(const LoopKernel& kernel);

/// Bytes of scratch memory that the kernel's function wants as its last write; 0: none.
std::int64_t scratch_bytes(const LoopKernel& kernel);

/// The values that pass `pass` computes at every element, operands before users, kept ones of
/// earlier passes taken as given.
std::vector<ValueId> lane_values_of_pass(const LoopKernel& kernel, const LoopPlan& plan,
                                         std::size_t pass);
/// The values that are computed for their own sake in a pass: operands of reductions, stores,
/// values to be kept.
std::vector<ValueId> roots_of_pass(const LoopKernel& kernel, const LoopPlan& plan,
                                   std::size_t pass);

/// About how many vector instructions an op takes.
int cost_of(const LoopValue& value);

/// The pass in which a store writes an element.
std::size_t pass_of(const LoopStore& store, const LoopPlan& plan);

/// The last pass that loads from a read.
std::size_t last_pass_loading(const LoopKernel& kernel, const LoopPlan& plan, std::size_t read);

}    // namespace slipway
