#include "scheduler/submission/memory_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "scheduler/store/host_pools.h"
#include "scheduler/store/hosts.h"

namespace slipway::submission {

std::vector<Problem> check_memory(store::Store& store, const JobSpec& spec) {
    if (!spec.accelerator.memory_bytes) return {};
    std::int64_t most = 0;
    const std::string pool = store::resolve_pool(store, spec.queue.pool);
    for (const store::Host& host : store::list_hosts(store)) {
        if (!pool.empty() && host.pool != pool) continue;
        if (host.job_memory_bytes == 0) return {};    // it has no limit
        most = std::max(most, host.job_memory_bytes);
    }
    if (most == 0 || *spec.accelerator.memory_bytes <= most) return {};
    return {{.pointer = "/accelerator/memory_bytes",
             .code = "out_of_range",
             .message = fmt::format("accelerator.memory_bytes must be at most {}, the memory that "
                                    "the largest host has for jobs (--job-memory-mib), got {}",
                                    most, *spec.accelerator.memory_bytes)}};
}

}    // namespace slipway::submission
