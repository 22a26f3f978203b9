#pragma once

#include <string>
#include <vector>

namespace slipway {

/// What Slurm says of the nodes of a partition (empty: of all), in one sentence.
/// errors  throws unavailable with Slurm's words: it does not answer, there is no such partition
std::string describe_cluster(const std::string& partition);

struct ClusterNode {
    std::string name;
    std::string address;    ///< where Slurm reaches it: a name or an address
};

/// The nodes of a partition (empty: all), each once, in the order of their names.
/// errors  throws unavailable
std::vector<ClusterNode> cluster_nodes(const std::string& partition);

/// Whether Slurm keeps the memory of a job by a cgroup. If not, only the limits that confinement
/// sets are kept.
/// errors  throws unavailable
bool keeps_memory();

}    // namespace slipway
