#pragma once

#include <cstdint>
#include <string>

#include "executor/program/program.h"

namespace slipway {

/// A kernel of the library. Call: reads and writes[0] as its maker says, writes[1] = scratch memory
/// of scratch_bytes (absent when 0). It keeps state per worker, for as many as it was made for, and
/// never spawns threads.
struct LibraryKernel {
    Kernel kernel;
    std::int64_t scratch_bytes = 0;
    std::string name;    ///< the library's own: "brg:avx512_core"
};

}    // namespace slipway
