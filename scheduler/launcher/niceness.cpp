#include "scheduler/launcher/niceness.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "api/base/posix.h"

namespace slipway {

namespace {

constexpr int niceness_max = 19;

}    // namespace

int niceness_behind_us(int steps) {
    return std::min(getpriority(PRIO_PROCESS, 0) + steps, niceness_max);
}

void set_group_niceness(pid_t leader, int niceness) {
    errno = 0;
    const int before = getpriority(PRIO_PGRP, id_t(leader));    // of its least nice thread
    if (errno != 0 || before == niceness) return;
    if (setpriority(PRIO_PGRP, id_t(leader), niceness) != 0) return;
    // Where the kernel groups sessions, the group's value counts; without such groups there is no
    // file.
    const UniqueFd group(
        open(fmt::format("/proc/{}/autogroup", leader).c_str(), O_WRONLY | O_CLOEXEC));
    if (!group) return;
    const std::string text = fmt::to_string(niceness);
    [[maybe_unused]] const ssize_t told = write(group.get(), text.data(), text.size());
}

}    // namespace slipway
