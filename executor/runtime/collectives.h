#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/program/program.h"

namespace slipway {

/// What the processes of one attempt compute together. Within a process the replicas' values are
/// combined by the tree of reduction_tree.h; one call then combines what the processes have. When
/// each process has the same power of two of replicas, its value is an aligned subtree, so the bits
/// are those of all replicas in one process.
///
/// Thread rule: one thread of each process calls at a time, all processes in the same order.
class Collectives {
public:
    virtual ~Collectives() = default;
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;

    /// Replaces `values` in every process by the tree over the processes' values, in order of rank:
    /// ((0+1)+(2+3))+..., never a ring, whose order of additions differs by element.
    ///   values  elements of `dtype` (f32, bf16, i32 or i64), as many in every process; bf16 is
    ///           added in f32 and rounded once
    /// errors  unavailable when another process has ended or does not come in time
    virtual void all_reduce(Combine how, DType dtype, std::span<std::byte> values) = 0;

    /// The two halves of an all_reduce, with anything done to a shard in between. shards[r] is what
    /// rank r owns, as long in every process; any of them may be empty.
    /// In each process its own shard becomes the tree over the processes' values; the others' are
    /// left as they were.
    virtual void reduce_scatter(Combine how, DType dtype,
                                std::span<const std::span<std::byte>> shards) = 0;
    /// Each process has its own shard; then all have all shards.
    virtual void gather_shards(std::span<const std::span<std::byte>> shards) = 0;

    virtual int rank() const = 0;
    virtual int count() const = 0;

    /// Memory that an all_reduce or a reduce_scatter of so many bytes takes beside them, and keeps
    /// for the next one.
    virtual std::int64_t staging_bytes(std::int64_t value_bytes) const = 0;

protected:
    Collectives() = default;
};

}    // namespace slipway
