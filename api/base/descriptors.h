#pragma once

namespace slipway {

/// The descriptor that the environment variable names, inherited from the launcher; -1: none.
int inherited_descriptor(const char* variable);

/// No program that this process becomes or starts has the descriptor.
void close_on_exec(int descriptor);

}    // namespace slipway
