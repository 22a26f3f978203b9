#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "executor/codegen/loops/compile_target.h"
#include "executor/codegen/loops/loop_plan.h"

namespace slipway {

/// Adds to the module
///
///   void symbol(const std::byte* const* reads, std::byte* const* writes,
///               std::int64_t begin, std::int64_t end)
///
/// that runs the kernel: reads and writes as the kernel numbers them, then scratch memory as the
/// last write if the plan needs any; begin and end are the bounds of a flat kernel's loop.
/// Everything that decides the order of sums is the kernel and the number of lanes.
void emit_loop_kernel(llvm::Module& module, const std::string& symbol, const LoopKernel& kernel,
                      const LoopPlan& plan, const CompileTarget& target);

}    // namespace slipway
