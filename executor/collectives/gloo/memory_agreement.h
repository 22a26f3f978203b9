#pragma once

#include "executor/collectives/gloo/mesh.h"
#include "executor/collectives/shared_memory/mapping.h"

namespace slipway {

/// The memory that the order names, where every member sees what every other one writes there;
/// empty in all of them where one does not: it is on another machine, or was started without.
/// Called by all members.
/// errors  MemberLost
SharedMapping agree_on_memory(Mesh& mesh);

}    // namespace slipway
