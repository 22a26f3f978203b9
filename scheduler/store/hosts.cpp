#include "scheduler/store/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scheduler/store/pg/pool.h"
#include "scheduler/store/project_steps.h"
#include "scheduler/store/queries.h"

namespace slipway::store {

namespace {

constexpr std::string_view check_violation = "23514";

std::optional<HostDrain> read_host_drain(const Row& row) {
    const auto at = row.maybe_time("drained_at");
    if (!at) return std::nullopt;
    return HostDrain{.at = *at, .reason = row.text("drain_reason"), .by = row.text("drained_by")};
}

bool change_host(Store& store, const Statement& statement) {
    if (write(store.pool(), statement).affected() == 0) return false;
    store.announce(topics::queue);
    return true;
}

/// A host joins once: when it is new, or when it comes back after it was removed.
void admit_host(Transaction& transaction, const Host& host, std::string_view join_token) {
    const Rows known = transaction.run(queries::find_host_to_admit, {host.name, host.home});
    const bool is_removed = !known.empty() && known[0].flag("is_removed");
    if (!is_removed && (join_token.empty() || !known.empty())) return;
    if (join_token.empty())
        throw Error{ErrorCode::conflict,
                    fmt::format("the host \"{}\" was removed from this service at {} and runs no "
                                "jobs; an operator can let it join again: slipway host join-token, "
                                "and its token for --join-token-file",
                                known[0].text("name"), to_rfc3339(known[0].time("removed_at")))};
    const Rows used = transaction.run(queries::use_join_token, {join_token, host.name});
    if (used.empty())
        throw Error{ErrorCode::conflict,
                    fmt::format("the join token does not let the host \"{}\" join: it is unknown, "
                                "used up, expired or for another host; POST /v1/hosts/join-tokens "
                                "makes another one",
                                host.name)};
    if (is_removed) transaction.run(queries::readmit_host, {host.name, host.home});
    transaction.run(queries::append_audit,
                    {used[0].text("created_by"), "host_joined", host.name, "",
                     fmt::format(R"({{"join_token_id": "{}"}})", used[0].text("id"))});
}

}    // namespace

DatabaseClient find_client(Store& store) {
    const Rows rows = read(store.pool(), queries::find_client);
    return {.now = rows[0].time("now"), .address = rows[0].text("address")};
}

void register_host(Store& store, const Host& host, std::chrono::milliseconds silence_max,
                   std::string_view join_token) {
    const bool is_registered = transact(store.pool(), [&](Transaction& transaction) {
        admit_host(transaction, host, join_token);
        const Rows rows = transaction.run(
            queries::register_host,
            {host.name, host.cores, host.physical_cpus, host.memory_bytes, host.instance, host.home,
             silence_max, host.job_memory_bytes, host.pool});
        if (rows.empty()) return false;
        transaction.commit({});
        return true;
    });
    if (!is_registered) {
        throw Error{
            ErrorCode::conflict,
            fmt::format("the host name \"{0}\" is in use: a slipwayd with another home folder "
                        "works for it on this database. Give this one a name of its own "
                        "(--host-name), or stop the other; {1} s after its last heartbeat "
                        "this one takes over",
                        host.name,
                        std::chrono::duration_cast<std::chrono::seconds>(silence_max).count())};
    }
    store.announce(topics::queue);
}

bool remove_host(Store& store, std::string_view name, std::string_view by,
                 std::chrono::milliseconds silence_max) {
    const bool is_removed = transact(store.pool(), [&](Transaction& transaction) {
        const Rows found = transaction.run(queries::lock_host, {name, silence_max});
        if (found.empty()) return false;
        std::vector<std::string> jobs;
        for (const Row row : transaction.run(queries::list_jobs_of_host, {name}))
            jobs.push_back(row.text("job_id"));
        if (!jobs.empty())
            throw Error{ErrorCode::conflict,
                        fmt::format("the host {} runs {}; it can be removed when they have ended, "
                                    "or, if it is lost, when they have been requeued",
                                    name, fmt::join(jobs, ", "))};
        if (found[0].flag("takes_jobs"))
            throw Error{ErrorCode::conflict,
                        fmt::format("the host {} is alive and takes jobs; drain it first", name)};
        transaction.commit({{&queries::remove_host, {name, by}}});
        return true;
    });
    if (is_removed) store.announce(topics::queue);
    return is_removed;
}

void create_join_token(Store& store, const JoinToken& token) {
    write(store.pool(), queries::insert_join_token,
          {token.id, token.sha256, Param::or_null(token.host), token.uses, token.created_by,
           token.expires_at});
}

std::int64_t prune_join_tokens(Store& store) {
    return write(store.pool(), queries::prune_join_tokens).affected();
}

bool record_heartbeat(Store& store, std::string_view name, std::string_view instance) {
    return write(store.pool(), queries::record_heartbeat, {name, instance}).affected() > 0;
}

std::vector<Host> list_hosts(Store& store) {
    std::vector<Host> hosts;
    for (const Row row : read(store.pool(), queries::list_hosts)) {
        hosts.push_back(
            {.name = row.text("name"),
             .pool = row.text("pool"),
             .cores = row.small("cores"),
             .physical_cpus = row.small("physical_cpus"),
             .memory_bytes = row.integer("memory_bytes"),
             .job_memory_bytes = row.integer("job_memory_bytes"),
             .home = row.text("home"),
             .drained = row.smalls("drained"),
             .drain = read_host_drain(row),
             .heartbeat_at = row.time("heartbeat_at"),
             .silent_for = std::chrono::milliseconds(std::int64_t(row.number("silent_s") * 1000))});
    }
    return hosts;
}

std::vector<Core> list_cores(Store& store, std::chrono::milliseconds silence_max) {
    std::vector<Core> cores;
    for (const Row row : read_with_kept_plan(store.pool(), {&queries::list_cores, {silence_max}})) {
        cores.push_back({.host = row.text("host"),
                         .pool = row.text("pool"),
                         .core = row.small("core"),
                         .drained = row.flag("drained"),
                         .drain_reason = row.text("core_drain_reason"),
                         .host_drain = read_host_drain(row),
                         .alive = row.flag("alive"),
                         .job_memory_bytes = row.integer("job_memory_bytes"),
                         .job_id = row.text("job_id"),
                         .memory_bytes = row.maybe_integer("memory_bytes"),
                         .attempt = row.maybe_small("attempt").value_or(0),
                         .leased_at = row.maybe_time("leased_at"),
                         .lease_expires_at = row.maybe_time("expires_at")});
    }
    return cores;
}

bool drain_core(Store& store, std::string_view host, int core, bool drained,
                std::string_view reason) {
    const bool is_there = transact(store.pool(), [&](Transaction& transaction) {
        const Rows changed = transaction.run(queries::drain_core, {host, core, drained});
        if (changed.affected() == 0) return false;
        std::vector<Statement> last{{&queries::forget_core_drain, {host, core}}};
        if (!reason.empty()) last.push_back({&queries::put_core_drain, {host, core, reason}});
        transaction.commit(std::move(last));
        return true;
    });
    if (is_there) store.announce(topics::queue);
    return is_there;
}

bool drain_host(Store& store, std::string_view name, std::string_view reason, std::string_view by) {
    return change_host(store, {&queries::drain_host, {name, reason, by}});
}

bool undrain_host(Store& store, std::string_view name) {
    return change_host(store, {&queries::undrain_host, {name}});
}

void claim_project(Transaction& transaction, std::string_view project, std::string_view created_by,
                   std::int64_t projects_max) {
    if (!transaction.run(queries::find_executor_number, {project}).empty()) return;
    transaction.run(queries::lock_projects);
    if (!transaction.run(queries::find_executor_number, {project}).empty()) return;
    if (projects_max > 0) {
        const std::int64_t made =
            transaction.run(queries::count_projects, {created_by})[0].integer("projects");
        if (made >= projects_max) {
            throw Error{ErrorCode::exhausted,
                        fmt::format("project {} is new, this token has used {} new projects, and "
                                    "the maximum is {} (--projects-max); use one of those",
                                    project, made, projects_max)};
        }
    }
    try {
        transaction.run(queries::add_executor_number, {project, created_by});
    } catch (const PgError& error) {
        if (error.sqlstate() != check_violation) throw;
        throw Error{ErrorCode::exhausted,
                    fmt::format("no user id is left for the executors of project {}", project)};
    }
}

std::optional<int> executor_number(Store& store, std::string_view project) {
    const Rows known = read(store.pool(), queries::find_executor_number, {project});
    if (!known.empty()) return known[0].small("number");
    try {
        return transact(store.pool(), [&](Transaction& transaction) {
            claim_project(transaction, project, "", 0);
            return transaction.run(queries::find_executor_number, {project})[0].small("number");
        });
    } catch (const PgError&) {
        throw;    // a full disk is exhausted, too
    } catch (const Error& error) {
        if (error.code() != ErrorCode::exhausted) throw;
        return std::nullopt;
    }
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
