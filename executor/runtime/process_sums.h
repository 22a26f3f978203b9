#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/runtime/collectives.h"

namespace slipway {

/// What of a sum of f32 is rounded to bf16 (Sum::rounds_to_bf16).
enum class ProcessRounding : std::uint8_t {
    none,
    all,      ///< what each process has, and the result: both are sent as bf16
    result    ///< each process has several blocks, which it has rounded: their sum is sent as f32
};

/// How values travel between the processes.
enum class Transfer : std::uint8_t {
    all_reduce,
    reduce_scatter,    ///< each process is given the sum of its shard (sharded_update.h)
    gather_shards      ///< each process has its shard, and is given the others'
};

/// What this process has of one sum over all processes, or of values that are gathered.
struct ProcessValues {
    Combine how = Combine::add;
    DType dtype = DType::f32;
    std::span<std::byte> values;
    ProcessRounding rounding = ProcessRounding::none;    ///< of an all_reduce
    Transfer transfer = Transfer::all_reduce;
};

/// Small sums are copied side by side up to so many bytes, and no call sends more than
/// sent_bytes_max: the memory that a call takes is bounded.
inline constexpr std::int64_t packed_bytes_max = std::int64_t{4} << 20;
inline constexpr std::int64_t sent_bytes_max = std::int64_t{16} << 20;

/// Sends each in its way. Sums are combined with those of the other processes, in place: small ones
/// of a kind together, since a call costs round trips however little it sends. The calls follow
/// from the sums alone. `packed` is memory for it, kept by the caller.
/// errors  as Collectives::all_reduce
void combine_processes(Collectives& collectives, std::span<const ProcessValues> sums,
                       std::vector<std::byte>& packed);

}    // namespace slipway
