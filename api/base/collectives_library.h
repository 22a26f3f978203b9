#pragma once

namespace slipway {

/// What connects the processes of an attempt on several hosts is a library of its own, beside the
/// programs: an attempt on one host does not load it.
inline constexpr const char* collectives_library_file = "slipway-collectives.so";
/// Environment variable: where else it is. A confined program may not reach its own folder.
inline constexpr const char* collectives_library_variable = "SLIPWAY_COLLECTIVES";

}    // namespace slipway
