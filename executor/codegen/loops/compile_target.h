#pragma once

#include <cstddef>
#include <vector>

#include "executor/codegen/loops/loop_kernel.h"

namespace slipway {

/// How code is made for this machine's CPU. Kernels of equal text, target, CPU and compiler are
/// equal to the bit; results are equal to the bit on all machines with as many lanes.
struct CompileTarget {
    unsigned lanes = 8;    ///< floats in a vector: 16 with AVX-512, 8 otherwise
    /// One instruction rounds a vector to bf16 (AVX-512 BF16): the same bits sooner.
    bool rounds_to_bf16 = false;

    bool operator==(const CompileTarget&) const = default;
};

/// The name of the function in an object that the compiler makes.
inline constexpr const char* kernel_symbol = "slipway_kernel";

/// What the library of the compiler exports (compiler_library.cpp): sets `object` to an ELF object
/// with the kernel's function.
using CompilerEntry = void (*)(const LoopKernel& kernel, const CompileTarget& target,
                               std::vector<std::byte>& object);
inline constexpr const char* compiler_entry_symbol = "slipway_compile";

}    // namespace slipway
