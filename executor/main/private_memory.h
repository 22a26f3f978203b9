#pragma once

#include <cstdint>

namespace slipway {

/// Private memory of this process as the kernel counts it against RLIMIT_DATA; read without the
/// heap, of which nothing may be left. 0: not known.
std::int64_t private_memory_bytes();

}    // namespace slipway
