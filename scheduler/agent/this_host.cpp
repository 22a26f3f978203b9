#include "scheduler/agent/this_host.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include "scheduler/agent/home_id.h"

namespace slipway {

store::Host this_host(const AgentOptions& options, const std::string& instance) {
    struct sysinfo info {};
    sysinfo(&info);
    return {.name = options.host,
            .pool = options.pool,
            .cores = options.cores,
            .physical_cpus = int(sysconf(_SC_NPROCESSORS_ONLN)),
            .memory_bytes = std::int64_t(info.totalram) * info.mem_unit,
            .job_memory_bytes = options.memory_bytes,
            .instance = instance,
            .home = home_id(options.home),
            .drained = {},
            .heartbeat_at = {}};
}

}    // namespace slipway
