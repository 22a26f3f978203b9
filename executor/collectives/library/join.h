#pragma once

#include <memory>

#include "api/protocol/attempt_order.h"
#include "executor/collectives/member.h"

namespace slipway {

/// Meets the other members by way of the order's rendezvous_folder, connects to them all and proves
/// to each that it knows the secret; then gives up making other connections (keep_sockets.h). Loads
/// the library of collectives the first time.
/// errors  MemberLost naming who did not come, could not be reached, or has another secret;
///         unavailable when the library cannot be loaded, or the network cannot be given up
std::unique_ptr<Member> join_members(const MemberOrder& order);

}    // namespace slipway
