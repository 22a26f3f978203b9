#include "scheduler/launcher/confine/features.h"

#include <fmt/core.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scheduler/launcher/confine/paths.h"

namespace slipway {

namespace {

constexpr int landlock_with_scopes = 6;

bool has_seccomp() {
    const unsigned action = SECCOMP_RET_ERRNO;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

ConfinementFeature files() {
    const int version = landlock_version();
    if (version == 0) {
        return {"files", false,
                "the kernel has no Landlock: only file permissions keep executors apart; start it "
                "with lsm=landlock,… or take Linux 5.13 or newer"};
    }
    return {"files", true, fmt::format("Landlock {}", version)};
}

ConfinementFeature system_calls() {
    if (!has_seccomp()) return {"system_calls", false, "the kernel has no seccomp filters"};
    return {"system_calls", true, "seccomp, an allow-list"};
}

ConfinementFeature network() {
    if (!has_seccomp()) return {"network", false, "the kernel has no seccomp filters"};
    return {"network", true, "seccomp: no socket but a Unix one that it listens on"};
}

ConfinementFeature user() {
    if (geteuid() == 0) return {"user", true, "a user for each project"};
    return {"user", false,
            "the service is not root: executors run as its own user; Landlock and seccomp keep "
            "them from its files and processes"};
}

ConfinementFeature signals() {
    if (has_seccomp()) return {"signals", true, "seccomp: to itself alone"};
    if (landlock_version() >= landlock_with_scopes) return {"signals", true, "Landlock"};
    return {"signals", false, "the kernel has neither seccomp filters nor Landlock 6"};
}

ConfinementFeature memory() {
    if (!has_seccomp()) {
        return {"memory", false,
                "private memory is limited (RLIMIT_DATA), shared memory is not without seccomp"};
    }
    return {"memory", true, "RLIMIT_DATA, and no shared anonymous memory"};
}

ConfinementFeature processes() {
    if (!has_seccomp()) return {"processes", false, "the kernel has no seccomp filters"};
    return {"processes", true, "seccomp: none but itself"};
}

ConfinementFeature threads() {
    if (geteuid() == 0) return {"threads", true, "RLIMIT_NPROC of the project's user"};
    return {"threads", false,
            "the service is not root: the number of threads is limited by memory alone"};
}

ConfinementFeature disk() {
    return {"disk", false,
            "the size of one file is limited (RLIMIT_FSIZE), the sum of all files is not: give the "
            "home folder a file system or a project quota of its own"};
}

}    // namespace

std::vector<ConfinementFeature> confinement_features() {
    return {files(),     system_calls(), network(), user(), signals(),
            processes(), threads(),      memory(),  disk()};
}

}    // namespace slipway
