#pragma once

namespace slipway {

/// From now on the first SIGTERM or SIGINT only sets a flag that the run asks for between steps; a
/// second one ends the process at once. A broken pipe is an error code, not a signal.
void catch_stop_signals();

/// True once SIGTERM or SIGINT has come. Safe from every thread.
bool stop_signalled();

}    // namespace slipway
