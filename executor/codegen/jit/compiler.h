#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/codegen/jit/loop_kernel.h"

namespace slipway {

/// What code is made for. Kernels of equal text, target and compiler version are equal to the bit;
/// results are equal to the bit on all machines with as many lanes.
struct CompileTarget {
    std::string cpu;         ///< as LLVM names it
    std::string features;    ///< "+avx512f,-xop...": exactly what the CPU has
    unsigned lanes = 8;      ///< floats in a vector: 16 with AVX-512, 8 otherwise
    /// One instruction rounds a vector to bf16 (AVX-512 BF16): the same bits sooner.
    bool rounds_to_bf16 = false;

    bool operator==(const CompileTarget&) const = default;
};
CompileTarget host_target();

/// The version of the compiler and of what it is given: part of a stored object's name.
std::string compiler_version();

/// Bytes of scratch memory that the kernel's function wants as its last write; 0: none.
std::int64_t scratch_bytes(const LoopKernel& kernel);

/// An ELF object with the kernel's function. A pure function of its arguments; safe from every
/// thread.
/// errors  invalid_argument for what no program runs (f64)
std::vector<std::byte> compile(const LoopKernel& kernel, const CompileTarget& target);

}    // namespace slipway
