// What slipway-compiler.so exports. A program loads the library when it has a kernel to compile,
// and most never have: LLVM costs 12 ms of CPU time and 6 MB of memory of a process's own, only to
// be there (docs/decisions/0057).
#include <cstddef>
#include <type_traits>
#include <vector>

#include "executor/codegen/llvm/compile_kernel.h"

extern "C" void slipway_compile(const slipway::LoopKernel& kernel,
                                const slipway::CompileTarget& target,
                                std::vector<std::byte>& object) {
    object = slipway::compile_kernel(kernel, target);
}

static_assert(std::is_same_v<decltype(&slipway_compile), slipway::CompilerEntry>);
