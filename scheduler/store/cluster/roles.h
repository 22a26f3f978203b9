#pragma once

#include <optional>
#include <string>

#include "scheduler/store/cluster/layout.h"

namespace slipway::store {

/// Writes who may connect as which role: over the socket alone, by the operating system's word
/// (`peer`), and only the users that run slipwayd and PostgreSQL. Takes effect with the next start
/// or SIGHUP. errors  throws Error{unavailable} when it cannot be written
void write_access(const ClusterLayout& layout, const std::optional<Account>& account);

/// The roles of a running cluster and its database `slipway`: the role `slipway` owns that database
/// and may do nothing else; the superuser is `postgres`, for this function alone. Brings the
/// clusters of the first version, whose `slipway` was the superuser, to the same state and keeps
/// what is in them. Interrupted, it goes on with the next start; done, it changes nothing.
/// errors  throws Error
void make_roles(const ClusterLayout& layout);

}    // namespace slipway::store
