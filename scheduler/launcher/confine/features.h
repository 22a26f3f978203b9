#pragma once

#include <string>
#include <vector>

#include "scheduler/launcher/confine/cgroup.h"

namespace slipway {

/// One part of the confinement, and whether this machine can enforce it for this user.
struct ConfinementFeature {
    std::string name;    ///< "files", "system_calls", "network", "user", "memory", …
    bool enforced = false;
    std::string detail;    ///< by what; or why not, and what would enable it
};

/// What of the machine the confinement depends on.
struct MachineSupport {
    int landlock = 0;        ///< its version; 0: none
    bool filters = false;    ///< of system calls (seccomp)
    bool root = false;       ///< the service is
    CgroupTree cgroups = {};
};

/// What slipway-confine can do on such a machine.
std::vector<ConfinementFeature> features_of(const MachineSupport& machine);

/// What slipway-confine can do when this process starts it, with these cgroups. Asks the kernel,
/// changes nothing.
std::vector<ConfinementFeature> confinement_features(const CgroupTree& cgroups);

}    // namespace slipway
