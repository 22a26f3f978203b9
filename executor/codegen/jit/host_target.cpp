// Asked of the CPU here, and not of LLVM: who finds all kernels on disk has no LLVM. The test
// compares both answers.
#include "executor/codegen/jit/compiler.h"

namespace slipway {

namespace {

CompileTarget find_host_target() {
    // The C runtime's answer: what the CPU has and the system saves.
    __builtin_cpu_init();
    const bool is_wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return {.lanes = is_wide ? 16U : 8U,
            .rounds_to_bf16 = is_wide && __builtin_cpu_supports("avx512bf16")};
}

}    // namespace

CompileTarget host_target() {
    static const CompileTarget target = find_host_target();
    return target;
}

}    // namespace slipway
