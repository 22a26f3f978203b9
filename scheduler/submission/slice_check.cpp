#include "scheduler/submission/slice_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "api/base/plural.h"
#include "scheduler/store/host_pools.h"
#include "scheduler/store/hosts.h"

namespace slipway::submission {

namespace {

/// Of the pool, or of the one that has the most: a slice has hosts of one pool.
std::int64_t most_whole_hosts(store::Store& store, const std::string& pool) {
    std::map<std::string, std::int64_t> whole;
    for (const store::Host& host : store::list_hosts(store))
        if (host.cores == host_cores && (pool.empty() || host.pool == pool)) ++whole[host.pool];
    std::int64_t most = 0;
    for (const auto& [name, count] : whole)
        most = std::max(most, count);
    return most;
}

}    // namespace

std::vector<Problem> check_slice(store::Store& store, const JobSpec& spec) {
    if (!spec.accelerator.slice) return {};
    const std::string pool = store::resolve_pool(store, spec.queue.pool);
    const std::int64_t whole = most_whole_hosts(store, pool);
    const std::int64_t cores = whole * host_cores;
    if (spec.accelerator.cores <= cores) return {};
    const std::string known = fmt::format("{} of {} cores {} known{}", counted(whole, "host"),
                                          host_cores, whole == 1 ? "is" : "are",
                                          pool.empty() ? "" : fmt::format(" in pool {}", pool));
    const std::string possible =
        whole < 2 ? fmt::format(
                        "a slice needs 2 hosts or more, and {}; set accelerator.cores, or "
                        "have more hosts join (slipwayd agent, --virtual-hosts)",
                        known)
                  : fmt::format("accelerator.slice.cores must be at most {}: {}", cores, known);
    return {{.pointer = "/accelerator/slice/cores",
             .code = "slice_unavailable",
             .message = fmt::format("{}, got {}", possible, spec.accelerator.cores)}};
}

}    // namespace slipway::submission
