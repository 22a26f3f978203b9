#pragma once

namespace slipway {

/// The descriptor that the environment variable names, as whoever started this process let it
/// inherit it; -1: none.
int inherited_descriptor(const char* variable);

/// No program that this process becomes or starts has the descriptor.
void close_on_exec(int descriptor);

}    // namespace slipway
