#include "scheduler/store/cluster/roles.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <vector>

#include "api/base/error.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/store/queries.h"

// A superuser can run programs as PostgreSQL's user, so no client can connect as one. Otherwise a
// process that reached the socket in the service's name, such as an executor that escaped its
// confinement, would be out of every confinement. What needs a superuser is done while PostgreSQL
// does not run, by its single-user mode. initdb makes one role, a superuser, which can neither be
// dropped nor (since PostgreSQL 16) lose its rights: it is renamed, and a plain role takes the
// name. A new cluster and one of an earlier version go the same way: one way to test.

namespace slipway::store {

namespace {

/// Of the plain role, of its database, and of the map of users.
constexpr const char* service_name = "slipway";

/// The operating system's name of a user; none when it has no entry.
std::optional<std::string> name_of(uid_t uid) {
    passwd entry{};
    passwd* found = nullptr;
    std::array<char, 4096> buffer{};
    getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found);
    if (found == nullptr) return std::nullopt;
    return std::string(entry.pw_name);
}

void write_owned(const std::filesystem::path& path, const std::string& text,
                 const std::optional<Account>& account) {
    write_file_aside(path, text);
    if (account && chown(path.c_str(), account->uid, account->gid) != 0)
        throw Error{ErrorCode::unavailable,
                    fmt::format("{} cannot be given to {}", path.string(), account->name)};
}

}    // namespace

void write_access(const ClusterLayout& layout, const std::optional<Account>& account) {
    const std::optional<std::string> ours = name_of(geteuid());
    std::string method = "trust";
    if (ours) {
        std::set<std::string> users{*ours};
        if (account) users.insert(account->name);
        std::string map;
        for (const std::string& user : users)
            map += fmt::format("{0} \"{1}\" {0}\n", service_name, user);
        write_owned(layout.data / "pg_ident.conf", map, account);
        method = fmt::format("peer map={}", service_name);
    } else {
        log_warn("this user has no name: whoever may enter the socket's folder may connect",
                 {{"uid", geteuid()}, {"folder", layout.sockets.string()}});
    }
    write_owned(layout.data / "pg_hba.conf",
                fmt::format("local {0} {0} {1}\nlocal all all reject\n", service_name, method),
                account);
}

bool has_roles(const ClusterLayout& layout) {
    const std::unique_ptr<pg_conn, void (*)(pg_conn*)> session(
        PQconnectdb(address_of(layout, service_name).c_str()), PQfinish);
    if (PQstatus(session.get()) != CONNECTION_OK) return false;
    const std::unique_ptr<pg_result, void (*)(pg_result*)> result(
        PQexec(session.get(), queries::has_roles.sql), PQclear);
    return PQresultStatus(result.get()) == PGRES_TUPLES_OK && PQntuples(result.get()) == 1 &&
           std::string_view(PQgetvalue(result.get(), 0, 0)) == "t";
}

void make_roles(const ClusterLayout& layout, const std::filesystem::path& tools,
                const std::optional<Account>& account, bool durable) {
    struct Step {
        const char* database;
        std::vector<const Query*> statements;
    };
    const std::array<Step, 2> steps{
        {{"postgres", {&queries::make_roles, &queries::create_database, &queries::own_database}},
         {service_name, {&queries::own_objects}}}};
    const std::filesystem::path script = layout.folder / "roles.sql";
    for (const Step& step : steps) {
        std::string text;
        for (const Query* statement : step.statements)
            text += fmt::format("{};\n\n", statement->sql);
        write_file_aside(script, text);
        Command command = single_user_command(layout, tools, account, durable, step.database);
        command.input = script;
        const int status = run_process(command);
        std::filesystem::remove(script);
        if (status != 0) {
            throw Error{ErrorCode::unavailable,
                        fmt::format("the roles of the private PostgreSQL cannot be made: {}",
                                    end_of_log(layout))};
        }
    }
}

}    // namespace slipway::store
