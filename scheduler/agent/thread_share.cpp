#include "scheduler/agent/thread_share.h"

#include <sched.h>

#include <algorithm>

namespace slipway {

int usable_cpu_count() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    return std::max(1, CPU_COUNT(&set));
}

int thread_share(int cores, int cores_of_host, int cpus) {
    return std::clamp(cpus * cores / cores_of_host, 1, 64);
}

}    // namespace slipway
