#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "executor/collectives/shared_memory/arrivals.h"
#include "executor/collectives/shared_memory/mapping.h"
#include "executor/program/program.h"

namespace slipway {

/// all_reduce and its halves between the members of one machine, through memory that they share:
/// the bits of Collectives.
///
/// Thread rule: that of Collectives.
class SharedSums {
public:
    /// Whether the memory is large enough for so many members.
    static bool fits(std::span<const std::byte> memory, int count);
    /// The memory fits, all members have the same, and none begins before all have one of these.
    SharedSums(SharedMapping mapping, int rank, int count, std::chrono::nanoseconds limit,
               MissingMembers missing_members);

    /// errors  what lose_ended and lose_late throw
    void all_reduce(Combine how, DType dtype, std::span<std::byte> values);
    /// As in Collectives.
    void reduce_scatter(Combine how, DType dtype, std::span<const std::span<std::byte>> shards);
    void gather_shards(std::span<const std::span<std::byte>> shards);

    /// This member's part of the memory.
    std::int64_t member_bytes() const;

private:
    std::span<std::byte> piece(int of_slice, int from) const;
    void reduce_whole(Combine how, DType dtype, std::span<std::byte> values);
    void reduce_slices(Combine how, DType dtype, std::span<std::byte> values);
    void add_own_slice(Combine how, DType dtype, std::span<std::byte> own, bool others_read);
    void scatter(Combine how, DType dtype, std::span<const std::span<std::byte>> shards);
    void gather(std::span<const std::span<std::byte>> shards);
    std::size_t shard_bytes_max() const;

    const SharedMapping mapping_;
    const int rank_;
    const int count_;
    const std::size_t piece_bytes_;
    const std::size_t part_bytes_max_;    ///< of values that are added at once
    Arrivals arrivals_;
    std::uint32_t parts_ = 0;           ///< added so far: even and odd ones take turns
    std::vector<std::byte> scratch_;    ///< of reduce_whole
};

}    // namespace slipway
