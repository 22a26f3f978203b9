#pragma once

#include <cstddef>

#include "executor/codegen/fusion_nodes.h"

namespace slipway {

/// Whether the clusters that read the node had better compute it again, each for itself, than have
/// it stored and loaded: all of its users are in clusters, and it is a few instructions; functions
/// of what that kernel reads anyway (an exponential takes less time than a load and a store), or
/// cheap ones when it reads no more for them; or made of counters and scalars alone. A core does so
/// in later stages as well where what the node is made of takes no more memory than the node: that
/// is kept in its place.
bool is_worth_inlining(const FusionNodes& nodes, std::size_t id);

}    // namespace slipway
