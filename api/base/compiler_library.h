#pragma once

namespace slipway {

/// The compiler of kernels is a library of its own, beside the programs that compile: who compiles
/// nothing does not load it.
inline constexpr const char* compiler_library_file = "slipway-compiler.so";
/// Environment variable: where else it is. A confined program may not reach its own folder.
inline constexpr const char* compiler_library_variable = "SLIPWAY_COMPILER";

}    // namespace slipway
