#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "executor/codegen/loops/compile_target.h"
#include "executor/codegen/loops/loop_kernel.h"

namespace slipway {

/// What this machine's CPU has, as the compiler sees it.
CompileTarget host_target();

/// The very build of the compiler: part of a stored object's name. Loads nothing.
std::string compiler_version();

/// An ELF object with the kernel's function, for this machine's CPU. A pure function of its
/// arguments; safe from every thread. The first call loads the compiler, which stays.
/// errors  throws invalid_argument for what no program runs (f64), unavailable when the compiler
///         cannot be loaded or is not the one that this program was built with
std::vector<std::byte> compile(const LoopKernel& kernel, const CompileTarget& target);

/// Whether this process has loaded the compiler.
bool compiler_is_loaded();

}    // namespace slipway
