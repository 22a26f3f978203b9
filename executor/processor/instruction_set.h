#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace slipway {

/// What kernels are chosen by, lowest first; spelled as oneDNN spells them. Results of two
/// processors may differ in their last bits where their instruction sets do; on one processor they
/// depend neither on the number of workers nor on the replicas of a process.
enum class InstructionSet : std::uint8_t {
    baseline,            ///< less than AVX2
    avx2,                ///< vectors of 8 floats
    avx512_core,         ///< vectors of 16 floats
    avx512_core_bf16,    ///< and products of bf16 in pairs
    avx512_core_amx      ///< and products of bf16 in tiles
};

inline constexpr std::array instruction_sets{
    InstructionSet::baseline, InstructionSet::avx2, InstructionSet::avx512_core,
    InstructionSet::avx512_core_bf16, InstructionSet::avx512_core_amx};

std::string_view to_string(InstructionSet instruction_set);
/// Nothing for a text that is none of them.
std::optional<InstructionSet> instruction_set_from(std::string_view text);

/// The one that this process uses: what the processor has and the system lets programs use, or less
/// where the environment variable ONEDNN_MAX_CPU_ISA says so. The same at each call.
InstructionSet instruction_set();

}    // namespace slipway
