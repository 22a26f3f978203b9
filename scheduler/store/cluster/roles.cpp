#include "scheduler/store/cluster/roles.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>

#include "api/base/error.h"
#include "api/base/log.h"
#include "api/base/posix.h"
#include "scheduler/store/pg/connection.h"
#include "scheduler/store/queries.h"

// initdb makes one role, a superuser, and the first version used that for everything: whoever got
// to the socket could run programs as PostgreSQL's user. The superuser of initdb can neither be
// dropped nor (since PostgreSQL 16) lose its rights, so it is renamed, which needs a session of
// another superuser, and a plain role takes the name. A new cluster goes the same way: one way to
// test.

namespace slipway::store {

namespace {

constexpr const char* superuser = "postgres";
constexpr const char* upgrade_role = "slipway_upgrade";
constexpr const char* database_name = "slipway";

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

std::unique_ptr<Connection> connect(const ClusterLayout& layout, const std::string& to,
                                    const std::string& role) {
    return std::make_unique<Connection>(
        StoreOptions{.database = address_of(layout, to, role),
                     .application_name = "slipwayd setup",
                     .statement_timeout = std::chrono::seconds{60}});
}

/// False also when there is no such role.
bool is_superuser(const ClusterLayout& layout, const std::string& role) {
    // PQping tells not whether the role exists, and Connection not why it was refused.
    const std::unique_ptr<pg_conn, void (*)(pg_conn*)> session(
        PQconnectdb(address_of(layout, "postgres", role).c_str()), PQfinish);
    if (PQstatus(session.get()) != CONNECTION_OK) return false;
    const char* said = PQparameterStatus(session.get(), "is_superuser");
    return said != nullptr && std::string_view(said) == "on";
}

}    // namespace

void write_access(const ClusterLayout& layout, const std::optional<Account>& account) {
    const std::optional<std::string> ours = name_of(geteuid());
    if (!ours) {
        log_warn("this user has no name: whoever may enter the socket's folder may connect",
                 {{"uid", geteuid()}, {"folder", layout.sockets.string()}});
        write_owned(layout.data / "pg_hba.conf", "local all all trust\n", account);
        return;
    }
    std::set<std::string> users{*ours};
    if (account) users.insert(account->name);
    std::string map;
    for (const std::string& user : users)
        for (const char* role : {database_name, superuser, upgrade_role})
            map += fmt::format("slipway \"{}\" {}\n", user, role);
    write_owned(layout.data / "pg_ident.conf", map, account);
    write_owned(layout.data / "pg_hba.conf", "local all all peer map=slipway\n", account);
}

void make_roles(const ClusterLayout& layout) {
    if (is_superuser(layout, database_name)) {
        log_info("the private PostgreSQL gets a plain role for the service");
        connect(layout, "postgres", database_name)->execute(queries::make_upgrade_role.sql);
        connect(layout, "postgres", upgrade_role)->execute(queries::free_role_name.sql);
    }
    const auto setup = connect(layout, "postgres", superuser);
    setup->execute(queries::make_roles.sql);
    if (!setup->run(queries::has_database)[0].flag("found"))
        setup->execute(queries::create_database.sql);
    setup->execute(queries::own_database.sql);
    connect(layout, database_name, superuser)->execute(queries::own_objects.sql);
}

}    // namespace slipway::store
