#pragma once

#include "api/protocol/run_position.h"

namespace slipway {

/// From now on a crash (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT) leaves in `position` what its
/// thread was computing, before the signal ends the process as it always did. `position` is read
/// until the end of the process, or until the next call; null: nothing more is written.
void note_crashes_in(RunPosition* position);

}    // namespace slipway
