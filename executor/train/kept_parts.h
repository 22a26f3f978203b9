#pragma once

#include "executor/engine/program_store.h"

namespace slipway {

/// What a process keeps of its attempts for the next ones. Nothing in it changes what an attempt
/// computes or reports, but the time that it takes and `cached` of its programs. One thread at a
/// time.
struct KeptParts {
    ProgramStore programs;
};

}    // namespace slipway
