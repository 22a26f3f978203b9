#pragma once

#include "executor/program/program.h"

namespace slipway {

/// Gives each sum to which replicas that run together contribute a buffer of region worker where
/// their contributions wait (Sum::waiting). Before arenas are joined and places are found.
void let_contributions_wait(Program& program);

}    // namespace slipway
