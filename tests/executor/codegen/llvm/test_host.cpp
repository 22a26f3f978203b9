// Goal: what the program asks of the CPU without LLVM is what LLVM makes code for.

#include <gtest/gtest.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <cstdlib>

#include "executor/codegen/jit/compiler.h"
#include "executor/codegen/llvm/compile_kernel.h"

namespace slipway {
namespace {

TEST(HostTarget, is_as_llvm_sees_the_machine) {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    const auto has = [&](const char* name) { return features.lookup(name); };
    const bool is_wide = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
    const CompileTarget most{.lanes = is_wide ? 16U : 8U,
                             .rounds_to_bf16 = is_wide && has("avx512bf16")};
    EXPECT_LE(host_target().lanes, most.lanes);
    EXPECT_LE(host_target().rounds_to_bf16, most.rounds_to_bf16);
    // A process may be held to less (executor/processor/instruction_set.h).
    if (std::getenv("ONEDNN_MAX_CPU_ISA") == nullptr) EXPECT_EQ(host_target(), most);
}

TEST(HostTarget, the_library_compiles_as_this_program_does) {
    LoopKernel kernel{.extents = {0}, .flat = true, .values = {}, .stores = {}};
    kernel.values.push_back({.kind = LoopValueKind::load, .access = {.buffer = 0, .strides = {1}}});
    kernel.stores.push_back({.value = 0, .to = {.buffer = 0, .strides = {1}}});
    kernel.reads = kernel.writes = 1;
    EXPECT_EQ(compile(kernel, host_target()), compile_kernel(kernel, host_target()));
}

}    // namespace
}    // namespace slipway
