#pragma once

#include <optional>
#include <string>

#include "scheduler/store/cluster/layout.h"

namespace slipway::store {

/// Writes the rules for connections: over the socket alone, as the plain role to its database
/// alone, authenticated by the operating system (`peer`), and only for the users that run slipwayd
/// and PostgreSQL. Takes effect with the next start or SIGHUP. errors  throws Error{unavailable}
/// when it cannot be written
void write_access(const ClusterLayout& layout, const std::optional<Account>& account);

/// Whether the running cluster has its roles and the database `slipway`, as make_roles() makes
/// them.
bool has_roles(const ClusterLayout& layout);

/// The role `slipway` owns the database of that name and may do nothing else; the superuser is
/// `postgres`, as which no client can connect. No postmaster may run: only PostgreSQL's single-user
/// mode does this. Brings clusters of earlier versions to the same state and keeps what is in them.
/// Interrupted, it goes on the next time; done, it changes nothing. Whether it was done,
/// has_roles() says.
/// errors  throws Error
void make_roles(const ClusterLayout& layout, const std::filesystem::path& tools,
                const std::optional<Account>& account, bool durable);

}    // namespace slipway::store
