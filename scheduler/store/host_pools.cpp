#include "scheduler/store/host_pools.h"

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

std::vector<std::string> list_pools(Store& store) {
    std::vector<std::string> pools;
    for (const Row row : read(store.pool(), queries::list_pools))
        pools.push_back(row.text("pool"));
    return pools;
}

std::string find_default_pool(Store& store) {
    return read(store.pool(), queries::find_default_pool)[0].text("pool");
}

void set_default_pool(Store& store, std::string_view pool) {
    write(store.pool(), queries::set_default_pool, {pool});
}

std::string resolve_pool(Store& store, std::string_view named) {
    if (named == any_pool) return {};
    return named.empty() ? find_default_pool(store) : std::string(named);
}

TimeLimits list_time_limits(Store& store) {
    TimeLimits limits;
    for (const Row row : read(store.pool(), queries::list_time_limits))
        limits.emplace(row.text("pool"), row.number("max_wall_s"));
    return limits;
}

void set_time_limits(Store& store, const TimeLimits& limits) {
    std::vector<std::string> pools;
    std::vector<double> seconds;
    for (const auto& [pool, limit] : limits) {
        pools.push_back(pool);
        seconds.push_back(limit);
    }
    write(store.pool(), queries::set_time_limits, {pools, seconds});
}

std::optional<double> find_time_limit(Store& store, std::string_view named) {
    const Rows rows = read(store.pool(), queries::find_time_limit, {named});
    return rows.empty() ? std::nullopt : rows[0].maybe_number("max_wall_s");
}

std::map<std::string, std::int64_t> count_ready_of_pools(Store& store,
                                                         const std::vector<std::string>& projects) {
    std::map<std::string, std::int64_t> counts;
    for (const Row row :
         read(store.pool(), queries::count_ready_of_pools, {Param::or_null(projects)}))
        counts.emplace(row.text("pool"), row.integer("jobs"));
    return counts;
}

}    // namespace slipway::store
