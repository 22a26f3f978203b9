#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/codegen/jit/loop_kernel.h"

namespace slipway {

/// A kernel's machine code: see loop_emitter.h for its arguments.
using LoopFunctionPointer = void (*)(const std::byte* const* reads, std::byte* const* writes,
                                     std::int64_t begin, std::int64_t end);

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

/// Bytes of machine code in an object that `compile` made: its tables and names are not counted.
std::int64_t code_bytes(std::span<const std::byte> object);

/// Loads objects into this process and keeps them for as long as it lives. Safe from every thread.
class KernelLoader {
public:
    KernelLoader();
    ~KernelLoader();
    KernelLoader(const KernelLoader&) = delete;
    KernelLoader& operator=(const KernelLoader&) = delete;

    /// The function in an object that `compile` made for this machine. Bytes from elsewhere must
    /// have been checked before: code is not.
    LoopFunctionPointer load(std::span<const std::byte> object);

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
