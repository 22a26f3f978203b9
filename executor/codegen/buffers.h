#pragma once

#include "executor/program/program.h"

namespace slipway {

/// Decides where the buffers of the arenas lie and how large the arenas are. Buffers that are never
/// alive together share bytes: the largest are placed first, each into the smallest gap it fits. A
/// result takes its operand's bytes where the step allows it and nobody needs the operand any more.
/// Offsets are multiples of 64 bytes.
void place_buffers(Program& program);

/// The step at which the buffers of a replica, regions worker and core, have most bytes: the first
/// of equals; past the last step where there are none.
std::size_t fullest_step(const Program& program);

}    // namespace slipway
