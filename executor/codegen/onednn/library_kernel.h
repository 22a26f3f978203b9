#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "executor/program/program.h"

namespace slipway {

/// How the library lays out a value when it may choose; only its own kernels understand it.
struct LibraryLayout {
    std::vector<std::byte> description;
    std::int64_t byte_count = 0;
    bool operator==(const LibraryLayout&) const = default;
};

/// Between a plain view and a layout of the library's own. Call: an operand's packing reads the
/// plain value and writes the packed one, a result's the other way round; writes[1] = scratch
/// memory of scratch_bytes (absent when 0).
struct Packing {
    LibraryLayout layout;
    Kernel kernel;
    std::int64_t scratch_bytes = 0;
    /// > 0: the call's range of so many elements says which part of the value is wanted, and the
    /// scratch memory has an equal part for each worker (Step::has_coarse_elements).
    std::int64_t elements = 0;
    /// The plain view, as the library's kernel sees it, and where it begins in its buffer: a square
    /// matrix and its transpose have one buffer and one layout, and are packed differently.
    LibraryLayout plain = {};
    std::int64_t plain_offset = 0;

    /// Whether two operands' packings make the same of one buffer.
    bool packs_as(const Packing& other) const {
        return layout == other.layout && plain == other.plain && plain_offset == other.plain_offset;
    }
};

/// A kernel of the library. Call: reads and writes[0] as its maker says, writes[1] = scratch memory
/// of scratch_bytes (absent when 0). It keeps state per worker, for as many as it was made for, and
/// never spawns threads.
struct LibraryKernel {
    Kernel kernel;
    std::int64_t scratch_bytes = 0;
    std::string name;    ///< the library's own: "brg:avx512_core"
    /// The weights are given, or their gradient is left, in this layout.
    std::optional<Packing> packing;
};

}    // namespace slipway
