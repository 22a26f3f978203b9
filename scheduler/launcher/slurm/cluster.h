#pragma once

#include <string>

namespace slipway {

/// What Slurm says of the nodes of a partition (empty: of all), in one sentence.
/// errors  throws unavailable with Slurm's words: it does not answer, there is no such partition
std::string describe_cluster(const std::string& partition);

/// Whether Slurm keeps the memory of a job by a cgroup. If not, only the limits that confinement
/// sets are kept.
/// errors  throws unavailable
bool keeps_memory();

}    // namespace slipway
