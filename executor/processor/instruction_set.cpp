// oneDNN chooses its kernels by the processor and by ONEDNN_MAX_CPU_ISA. Our own choices follow the
// same variable, so that one setting holds a process to one instruction set, in tests as in
// production. The processor is asked here and not through the library: code that needs the answer
// lies below it. A test compares both answers.
#include "executor/processor/instruction_set.h"

#include <cpuid.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <utility>

#include "api/base/letter_case.h"

namespace slipway {

namespace {

constexpr std::array<std::string_view, instruction_sets.size()> names{
    "baseline", "avx2", "avx512_core", "avx512_core_bf16", "avx512_core_amx"};

/// Values of the variable, in small letters, by the highest set that each allows. The library
/// ignores any other value.
constexpr std::pair<std::string_view, InstructionSet> limits[] = {
    {"sse41", InstructionSet::baseline},
    {"avx", InstructionSet::baseline},
    {"avx2", InstructionSet::avx2},
    {"avx2_vnni", InstructionSet::avx2},
    {"avx512_core", InstructionSet::avx512_core},
    {"avx512_core_vnni", InstructionSet::avx512_core},
    {"avx512_core_bf16", InstructionSet::avx512_core_bf16},
};

/// The tiles' registers are saved by the system, which lets a process use them when it asks.
bool saves_tiles() {
    constexpr unsigned osxsave = 1U << 27, tile_bits = 3U << 17;
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & osxsave) == 0) return false;
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & tile_bits) == tile_bits;
}

bool has_tiles() {
    constexpr unsigned amx = 1U << 22 | 1U << 24 | 1U << 25;    // bf16, tile, int8
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (edx & amx) == amx &&
           saves_tiles();
}

InstructionSet of_processor() {
    // The C runtime's answer: what the CPU has and the system saves.
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2")) return InstructionSet::baseline;
    const bool is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (!is_wide) return InstructionSet::avx2;
    if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16"))
        return InstructionSet::avx512_core;
    return has_tiles() ? InstructionSet::avx512_core_amx : InstructionSet::avx512_core_bf16;
}

InstructionSet limit_of_environment() {
    for (const char* const variable : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
        const char* const value = std::getenv(variable);
        if (value == nullptr || *value == '\0') continue;
        const std::string small = lower_case(value);
        const auto found =
            std::ranges::find(limits, small, &std::pair<std::string_view, InstructionSet>::first);
        return found == std::end(limits) ? instruction_sets.back() : found->second;
    }
    return instruction_sets.back();
}

}    // namespace

std::string_view to_string(InstructionSet instruction_set) {
    return names[std::size_t(instruction_set)];
}

std::optional<InstructionSet> instruction_set_from(std::string_view text) {
    const auto found = std::ranges::find(names, text);
    if (found == names.end()) return std::nullopt;
    return instruction_sets[std::size_t(found - names.begin())];
}

InstructionSet instruction_set() {
    static const InstructionSet used = std::min(of_processor(), limit_of_environment());
    return used;
}

}    // namespace slipway
