#pragma once

#include <sys/types.h>

namespace slipway {

/// The niceness of a program that stands `steps` (0 to 19) behind us; at most 19.
int niceness_behind_us(int steps);

/// All threads of all processes of a group, and its session where the kernel groups sessions, get
/// this niceness. Nothing is changed where the system does not let us, as it lets nobody without
/// CAP_SYS_NICE make a program less nice, and harmless when the group is gone. A thread that is
/// made at this moment may keep the niceness of the one that makes it.
void set_group_niceness(pid_t leader, int niceness);

}    // namespace slipway
