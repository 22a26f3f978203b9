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

/// What this process has of one sum over all processes.
struct ProcessSum {
    Combine how = Combine::add;
    DType dtype = DType::f32;
    std::span<std::byte> values;
    ProcessRounding rounding = ProcessRounding::none;
};

/// Small sums are copied side by side up to so many bytes, and no call sends more than
/// sent_bytes_max: the memory that a call takes is bounded.
inline constexpr std::int64_t packed_bytes_max = std::int64_t{4} << 20;
inline constexpr std::int64_t sent_bytes_max = std::int64_t{16} << 20;

/// Combines each with those of the other processes, in place: small ones of a kind together, since
/// a call costs round trips however little it sends. The calls follow from the sums alone.
/// `packed` is memory for it, kept by the caller.
/// errors  as Collectives::all_reduce
void combine_processes(Collectives& collectives, std::span<const ProcessSum> sums,
                       std::vector<std::byte>& packed);

}    // namespace slipway
