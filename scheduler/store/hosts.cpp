#include "scheduler/store/hosts.h"

#include <fmt/format.h>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

void register_host(Store& store, const Host& host, std::chrono::milliseconds silence_max) {
    const Rows rows = write(store.pool(), queries::register_host,
                            {host.name, host.cores, host.physical_cpus, host.memory_bytes,
                             host.instance, host.home, silence_max});
    if (rows.empty()) {
        throw Error{
            ErrorCode::conflict,
            fmt::format("the host name \"{0}\" is in use: a slipwayd with another home folder "
                        "works for it on this database. Give this one a name of its own "
                        "(--host-name), or stop the other; {1} s after its last sign of life "
                        "this one takes over",
                        host.name,
                        std::chrono::duration_cast<std::chrono::seconds>(silence_max).count())};
    }
    store.announce(topics::queue);
}

bool beat_host(Store& store, std::string_view name, std::string_view instance) {
    return write(store.pool(), queries::beat_host, {name, instance}).affected() > 0;
}

std::vector<Host> list_hosts(Store& store) {
    std::vector<Host> hosts;
    for (const Row row : read(store.pool(), queries::list_hosts)) {
        hosts.push_back(
            {.name = row.text("name"),
             .cores = row.small("cores"),
             .physical_cpus = row.small("physical_cpus"),
             .memory_bytes = row.integer("memory_bytes"),
             .drained = row.smalls("drained"),
             .heartbeat_at = row.time("heartbeat_at"),
             .silent_for = std::chrono::milliseconds(std::int64_t(row.number("silent_s") * 1000))});
    }
    return hosts;
}

std::vector<Core> list_cores(Store& store, std::chrono::milliseconds silence_max) {
    std::vector<Core> cores;
    for (const Row row : read(store.pool(), queries::list_cores, {silence_max})) {
        cores.push_back({.host = row.text("host"),
                         .core = row.small("core"),
                         .drained = row.flag("drained"),
                         .alive = row.flag("alive"),
                         .job_id = row.text("job_id"),
                         .attempt = row.maybe_small("attempt").value_or(0),
                         .leased_at = row.maybe_time("leased_at"),
                         .lease_expires_at = row.maybe_time("expires_at")});
    }
    return cores;
}

bool drain_core(Store& store, std::string_view host, int core, bool drained) {
    const Rows rows = write(store.pool(), queries::drain_core, {host, core, drained});
    if (rows.affected() == 0) return false;
    store.announce(topics::queue);
    return true;
}

std::optional<int> executor_number(Store& store, std::string_view project) {
    constexpr int tries_max = 10;
    for (int tries = 0; tries < tries_max; ++tries) {
        const Rows rows = read(store.pool(), queries::find_executor_number, {project});
        if (!rows.empty()) return rows[0].small("number");
        try {
            write(store.pool(), queries::add_executor_number, {project});
        } catch (const PgError& error) {
            // Another process took the number for another project: the next one is free.
            if (error.sqlstate() == "23505") continue;
            if (error.sqlstate() != "23514") throw;
            return std::nullopt;
        }
    }
    throw Error{ErrorCode::unavailable, "the users of executors are being given out; try again"};
}

std::vector<Garbage> list_garbage(Store& store, std::string_view host, int limit) {
    std::vector<Garbage> garbage;
    for (const Row row : read(store.pool(), queries::list_garbage, {host, limit}))
        garbage.push_back(
            {row.integer("id"), row.text("path"), row.small("tries"), row.flag("own")});
    return garbage;
}

void postpone_garbage(Store& store, const std::vector<std::int64_t>& ids) {
    write(store.pool(), queries::postpone_garbage, {ids});
}

void forget_garbage(Store& store, const std::vector<std::int64_t>& ids) {
    write(store.pool(), queries::forget_garbage, {ids});
}

}    // namespace slipway::store
