#pragma once

#include <cstdint>

#include "executor/program/program.h"
#include "executor/program/team.h"

namespace slipway {

/// Bytes that the team's arenas take for this program, constants included.
std::int64_t temporary_bytes(const Program& program, const Team& team);

}    // namespace slipway
