#pragma once

#include <cstddef>
#include <vector>

#include "executor/codegen/loops/compile_target.h"
#include "executor/codegen/loops/loop_kernel.h"

namespace slipway {

/// An ELF object with the kernel's function, for this machine's CPU. A pure function of its
/// arguments and the CPU; safe from every thread.
/// errors  invalid_argument for what no program runs (f64)
std::vector<std::byte> compile_kernel(const LoopKernel& kernel, const CompileTarget& target);

}    // namespace slipway
