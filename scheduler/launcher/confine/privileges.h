#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace slipway {

/// Gives up every capability, also those that a program could bring back, and becomes `user` (its
/// own group has the same number; `shared_groups` are the only other ones).
/// errors  throws unavailable
void drop_privileges(std::optional<uid_t> user, const std::vector<gid_t>& shared_groups);

}    // namespace slipway
