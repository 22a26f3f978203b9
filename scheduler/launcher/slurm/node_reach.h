#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/launcher/slurm/cluster.h"

namespace slipway {

// Whether the nodes of a cluster can connect to this machine, as far as it can be told here: a
// firewall between them is not seen.

/// The nodes that are other machines: those whose address is none of this machine, or unknown here.
/// Waits for the system's resolver. `nodes` as cluster_nodes() gives them.
std::vector<ClusterNode> nodes_elsewhere(const std::vector<ClusterNode>& nodes);

/// Whether slipwayd can listen at `address`, and the nodes `elsewhere` can connect to it.
///   address  IPv4 or IPv6, no name
/// errors  throws unavailable saying what is wrong: none of this machine, one that only this
///         machine reaches, no route to a node
void check_node_reach(const std::string& address, const std::vector<ClusterNode>& elsewhere);

/// Whether slipwayd can listen at this port of the address now.
/// errors  throws unavailable: the port is in use, or not permitted
void check_listening_port(const std::string& address, std::uint16_t port);

}    // namespace slipway
