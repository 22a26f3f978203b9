#include "scheduler/launcher/confine/privileges.h"

#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "api/base/error.h"

namespace slipway {

namespace {

void require(bool done, const char* what) {
    if (done) return;
    throw Error{ErrorCode::unavailable, fmt::format("{}: {}", what, std::strerror(errno))};
}

/// No program that is run later can have a capability, whoever owns it.
void empty_bounding_set() {
    for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
        // Without CAP_SETPCAP there is nothing that could come back either: no_new_privs.
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno == EPERM) return;
    }
}

void clear_capabilities() {
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    std::array<__user_cap_data_struct, 2> none{};
    require(syscall(SYS_capset, &header, none.data()) == 0, "capabilities cannot be given up");
}

}    // namespace

void drop_privileges(std::optional<uid_t> user, const std::vector<gid_t>& shared_groups) {
    empty_bounding_set();
    if (user) {
        require(setgroups(shared_groups.size(), shared_groups.data()) == 0,
                "the groups cannot be set");
        require(setresgid(*user, *user, *user) == 0, "the group cannot be set");
        require(setresuid(*user, *user, *user) == 0, "the user cannot be set");
    }
    clear_capabilities();
    require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
}

}    // namespace slipway
