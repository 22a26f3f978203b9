#include "scheduler/submission/pool_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scheduler/store/host_pools.h"

namespace slipway::submission {

std::vector<Problem> check_pool(store::Store& store, const QueueSpec& queue) {
    if (queue.pool.empty() || queue.pool == store::any_pool) return {};
    std::vector<std::string> pools = store::list_pools(store);
    if (std::ranges::find(pools, queue.pool) != pools.end()) return {};
    const std::string known = pools.empty()
                                  ? "no host has joined yet"
                                  : fmt::format("the hosts are of {}", fmt::join(pools, ", "));
    pools.emplace_back(store::any_pool);
    return {{.pointer = "/queue/pool",
             .code = "no_such_pool",
             .message = fmt::format("queue.pool must be a pool that hosts are of, or any; {}, got "
                                    "\"{}\"",
                                    known, queue.pool),
             .allowed = std::move(pools)}};
}

void fill_time_limit(store::Store& store, const QueueSpec& queue, LimitsSpec& limits) {
    if (!limits.max_wall_s && !limits.max_core_s)
        limits.max_wall_s = store::find_time_limit(store, queue.pool);
}

}    // namespace slipway::submission
