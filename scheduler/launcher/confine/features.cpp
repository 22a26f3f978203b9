#include "scheduler/launcher/confine/features.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "scheduler/launcher/confine/paths.h"
#include "scheduler/launcher/confine/system_calls.h"

// What is said here must be true for the weakest kernel that says it: a feature is enforced only
// when every part of it is, by Landlock of this version or by the filter of system calls.
namespace slipway {

namespace {

constexpr const char* no_filter = "the kernel has no seccomp filters";

ConfinementFeature files(const MachineSupport& machine) {
    if (machine.landlock == 0) {
        return {"files", false,
                "the kernel has no Landlock: only file permissions keep executors apart; start it "
                "with lsm=landlock,… or take Linux 5.13 or newer"};
    }
    const std::string landlock = fmt::format("Landlock {}", machine.landlock);
    const bool cuts = machine.landlock >= landlock_with_truncation;
    if (!machine.filters) {
        return {"files", false,
                fmt::format("{} governs reading and writing; {}modes, owners and times of files "
                            "of the same user are not governed: {}",
                            landlock, cuts ? "" : "truncation, ", no_filter)};
    }
    return {"files", true,
            fmt::format("{}; {} by seccomp", landlock,
                        cuts ? "modes, owners and times" : "truncation, modes, owners and times")};
}

ConfinementFeature system_calls(const MachineSupport& machine) {
    if (!machine.filters) return {"system_calls", false, no_filter};
    return {"system_calls", true, "seccomp, an allow-list"};
}

ConfinementFeature network(const MachineSupport& machine) {
    if (machine.filters) {
        return {"network", true,
                fmt::format("seccomp: no socket but those that it inherits; until the members of a "
                            "slice have met, they connect by TCP to {}",
                            machine.landlock >= landlock_with_tcp
                                ? fmt::format("ports that the system chooses (Landlock {})",
                                              machine.landlock)
                                : "any address (the kernel has no Landlock 4)")};
    }
    if (machine.landlock >= landlock_with_tcp) {
        return {"network", false,
                fmt::format("Landlock {} refuses TCP alone: {}", machine.landlock, no_filter)};
    }
    return {"network", false, no_filter};
}

ConfinementFeature user(const MachineSupport& machine) {
    if (machine.root) return {"user", true, "a user for each project"};
    return {"user", false,
            "the service is not root: executors run as its own user; Landlock and seccomp keep "
            "them from its files and processes"};
}

ConfinementFeature signals(const MachineSupport& machine) {
    if (machine.filters) return {"signals", true, "seccomp: only to itself"};
    if (machine.landlock >= landlock_with_scopes)
        return {"signals", true, fmt::format("Landlock {}", machine.landlock)};
    return {"signals", false, "the kernel has neither seccomp filters nor Landlock 6"};
}

ConfinementFeature processes(const MachineSupport& machine) {
    if (!machine.filters) return {"processes", false, no_filter};
    return {"processes", true, "seccomp: only itself; only its own limits and CPUs"};
}

ConfinementFeature threads(const MachineSupport& machine) {
    if (machine.root) return {"threads", true, "RLIMIT_NPROC of the project's user"};
    return {"threads", false,
            "the service is not root: the number of threads is limited by memory alone"};
}

ConfinementFeature memory(const MachineSupport& machine) {
    if (machine.cgroups) {
        return {"memory", true,
                fmt::format("RLIMIT_DATA; all memory by a cgroup for each process below {}",
                            machine.cgroups.folder.string())};
    }
    const std::string by_reading = fmt::format(
        "the memory of each process is read five times a second; above its limit it is ended (no "
        "cgroup: {})",
        machine.cgroups.missing);
    if (!machine.filters) {
        return {"memory", false,
                fmt::format("private memory is limited (RLIMIT_DATA); {}; a process that leaves "
                            "its session is not found: {}",
                            by_reading, no_filter)};
    }
    return {"memory", true, fmt::format("RLIMIT_DATA; {}", by_reading)};
}

ConfinementFeature disk(const MachineSupport&) {
    return {"disk", false,
            "the size of one file is limited (RLIMIT_FSIZE), the total size of all files is not: "
            "put the home folder on its own file system, or set a quota"};
}

constexpr std::array features{files,     system_calls, network, user, signals,
                              processes, threads,      memory,  disk};

}    // namespace

std::vector<ConfinementFeature> features_of(const MachineSupport& machine) {
    std::vector<ConfinementFeature> all;
    for (const auto feature : features)
        all.push_back(feature(machine));
    return all;
}

std::vector<ConfinementFeature> confinement_features(const CgroupTree& cgroups) {
    return features_of({.landlock = landlock_version(),
                        .filters = has_system_call_filters(),
                        .root = geteuid() == 0,
                        .cgroups = cgroups});
}

}    // namespace slipway
