#pragma once

#include <vector>

#include "scheduler/agent/agent.h"
#include "scheduler/store/store.h"
#include "server/main/home.h"
#include "server/main/options.h"
#include "server/main/parts.h"

namespace slipway {

// What is checked before this machine works as a host, so that what is wrong is an error of the
// start and not of a job.

/// The database of the service, for an agent. An agent changes no schema: a newer one would break
/// the service that runs.
/// errors  throws conflict when the schema is older or newer than this program; unavailable when
///         the database cannot be reached
Database open_service_database(const Options& options);

/// Waits until the database answers, a minute at most; then the store of the home folder must be
/// the one that the hosts of the service share.
///   may_be_full  a store that cannot be written is only logged: a service whose store is full
///                answers still, so that people can make room
/// errors  throws unavailable
void require_shared_store(store::Store& store, const Home& home, bool may_be_full);

/// With the address from which this machine reaches the database as that for slices, unless one was
/// given: the database's hosts reach each other there, and the loopback address where the database
/// is on this machine.
Options with_slice_address(Options options, store::Store& store);

/// Registers the hosts that this machine is; their agents do so again. By itself an agent waits
/// until its name is free and its token is good.
/// errors  throws conflict: a name that another machine works under, a removed host without a good
///         join token, a bad join token
void register_hosts(store::Store& store, const std::vector<AgentOptions>& agents);

}    // namespace slipway
