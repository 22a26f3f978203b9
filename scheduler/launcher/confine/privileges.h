#pragma once

#include <sys/types.h>

#include <optional>

namespace slipway {

/// Gives up every capability, also those that a program could bring back, and becomes `user` (its
/// own group has the same number; `shared_group` is the only other one).
/// errors  throws unavailable
void drop_privileges(std::optional<uid_t> user, std::optional<gid_t> shared_group);

}    // namespace slipway
