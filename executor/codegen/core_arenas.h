#pragma once

#include "executor/program/program.h"
#include "executor/program/team.h"

namespace slipway {

/// Moves the buffers of region worker to region core where a team has no more blocks of cores that
/// are computed at once than workers: then there are as many copies of both regions, and what a
/// core keeps after its stage and what it has for a while can take each other's bytes. What block
/// steps use stays. Before places are found.
void join_arenas(Program& program, const Team& team);

}    // namespace slipway
