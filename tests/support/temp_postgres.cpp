#include "tests/support/temp_postgres.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <libpq-fe.h>
#include <sys/file.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <filesystem>
#include <vector>

#include "api/base/check.h"
#include "api/base/posix.h"
#include "api/base/sha256.h"
#include "migrations/migrate.h"
#include "scheduler/store/cluster/layout.h"

namespace slipway {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using store::Account;
using store::ClusterLayout;
using store::Command;

constexpr milliseconds patience{30000};
// A cluster takes some 50 MB, and a few test processes run at a time.
constexpr std::uintmax_t memory_bytes_wanted = 1 << 30;

struct Close {
    void operator()(pg_conn* connection) const { PQfinish(connection); }
    void operator()(pg_result* result) const { PQclear(result); }
};

std::string run_sql(const std::string& address, const std::string& script) {
    const std::unique_ptr<pg_conn, Close> connection(PQconnectdb(address.c_str()));
    const std::unique_ptr<pg_result, Close> result(PQexec(connection.get(), script.c_str()));
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        throw Error{ErrorCode::internal,
                    fmt::format("{}: {}", script, PQerrorMessage(connection.get()))};
    }
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

ClusterLayout layout_in(const fs::path& folder) {
    return {folder, folder / "data", folder / "log", folder / "lock", folder};
}

/// A folder that the account owns, below one it can enter.
void make_folder(const fs::path& folder, const std::optional<Account>& account) {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all);
    if (account) check(chown(folder.c_str(), account->uid, account->gid) == 0, "root may chown");
}

pid_t start_postmaster(const ClusterLayout& layout, const std::optional<Account>& account) {
    Command command =
        store::postmaster_command(layout, store::find_tools(layout, {}), account, false);
    command.dies_with_us = true;
    // A test process uses a handful of connections; the rest is memory that each start would touch.
    for (const char* setting : {"max_connections=60", "autovacuum=off", "max_wal_senders=0"}) {
        command.words.emplace_back("-c");
        command.words.emplace_back(setting);
    }
    const pid_t pid = store::start_process(command);
    const std::string address = store::address_of(layout, "postgres");
    for (int tries = 0; PQping(address.c_str()) != PQPING_OK; ++tries) {
        const bool ended = store::wait_for_end(pid, milliseconds{10});
        if (ended || tries > 3000) {
            throw Error{ErrorCode::unavailable,
                        "PostgreSQL does not start for the tests: " + store::end_of_log(layout)};
        }
    }
    return pid;
}

void end_postmaster(pid_t pid, int signal) {
    ::kill(pid, signal);
    check(store::wait_for_end(pid, patience), "a signalled postmaster ends");
}

/// Tells templates of different schemas apart.
std::string schema_mark() {
    std::string sums;
    for (const migrations::Migration& step : migrations::all())
        sums += migrations::checksum(step);
    return sha256_hex(sums).substr(0, 12);
}

fs::path own_folder(const fs::path& parent) {
    return parent / fmt::format("slipway-test-postgres-{}", geteuid());
}

fs::path template_base() {
    return own_folder("/tmp");
}

/// In memory where there is room: a cluster is 1,400 files, and ext4 takes 0.4 ms to make one where
/// as many were just deleted, 1.5 s of CPU time for each test process.
fs::path run_base() {
    const fs::path memory = "/dev/shm";
    std::error_code none;
    const fs::space_info space = fs::space(memory, none);
    const bool fits = !none && space.available >= memory_bytes_wanted;
    return fits && access(memory.c_str(), W_OK) == 0 ? own_folder(memory) : template_base();
}

void make_template(const fs::path& folder, const std::optional<Account>& account) {
    const ClusterLayout layout = layout_in(fs::path(folder).concat(".new"));
    fs::remove_all(layout.folder);
    make_folder(layout.folder, account);
    store::create_cluster(layout, store::find_tools(layout, {}), account, false);
    const pid_t pid = start_postmaster(layout, account);
    run_sql(store::address_of(layout, "postgres"), "create database newest_schema");
    migrations::up(store::address_of(layout, "newest_schema"));
    end_postmaster(pid, SIGINT);
    fs::remove(layout.log);    // ours, and so not the account's to copy
    fs::rename(layout.folder, folder);
}

/// Folders of test processes that were killed, and templates of older schemas.
void remove_remains(const fs::path& base, const fs::path& kept) {
    for (const fs::directory_entry& entry : fs::directory_iterator(base)) {
        const std::string name = entry.path().filename().string();
        int pid = 0;
        if (name.starts_with("run-")) std::from_chars(&name[4], name.data() + name.size(), pid);
        const bool dead = pid > 0 && ::kill(pid, 0) != 0;
        if (dead || (name.starts_with("template-") && entry.path() != kept)) {
            std::error_code none;
            fs::remove_all(entry.path(), none);
        }
    }
}

}    // namespace

struct TempPostgres::State {
    std::optional<Account> account = store::postgres_account();
    ClusterLayout layout = layout_in(run_base() / fmt::format("run-{}", getpid()));
    pid_t pid = 0;
    int databases = 0;
};

TempPostgres& TempPostgres::instance() {
    static TempPostgres postgres;
    return postgres;
}

TempPostgres::TempPostgres() : state_(std::make_unique<State>()) {
    const fs::path base = template_base();
    const fs::path runs = state_->layout.folder.parent_path();
    make_folder(base, state_->account);
    make_folder(runs, state_->account);
    const fs::path original = base / ("template-" + schema_mark());
    {
        const UniqueFd lock(open((base / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        check(flock(lock.get(), LOCK_EX) == 0, "the folder of the tests' PostgreSQL can be locked");
        remove_remains(base, original);
        remove_remains(runs, original);
        if (!fs::exists(original)) make_template(original, state_->account);
        const int copied =
            store::run_process({.words = {"/bin/cp", "-a", "--reflink=auto", original.string(),
                                          state_->layout.folder.string()},
                                .account = state_->account,
                                .output = {}});
        check(copied == 0, "the template can be copied");
    }
    start();
}

TempPostgres::~TempPostgres() {
    if (state_->pid != 0) end_postmaster(state_->pid, SIGQUIT);
    std::error_code none;
    fs::remove_all(state_->layout.folder, none);
}

std::string TempPostgres::url(const std::string& database) const {
    return store::address_of(state_->layout, database);
}

std::string TempPostgres::create_database(bool empty) {
    std::string name = fmt::format("test_{}", ++state_->databases);
    run_sql(url("postgres"), fmt::format("create database {} template {} strategy file_copy", name,
                                         empty ? "template0" : "newest_schema"));
    return name;
}

pid_t TempPostgres::pid() const {
    return state_->pid;
}

void TempPostgres::stop() {
    end_postmaster(std::exchange(state_->pid, 0), SIGINT);
}

void TempPostgres::kill() {
    // Its backends outlive a postmaster for a moment, and commit what they are asked meanwhile.
    const std::vector<pid_t> all = store::processes_in(state_->layout.data);
    for (const pid_t pid : all)
        ::kill(pid, SIGKILL);
    end_postmaster(std::exchange(state_->pid, 0), SIGKILL);
    for (const pid_t pid : all)
        check(store::wait_for_end(pid, patience), "a killed process of the database ends");
}

void TempPostgres::freeze() {
    for (const pid_t pid : store::processes_in(state_->layout.data))
        ::kill(pid, SIGSTOP);
}

void TempPostgres::thaw() {
    for (const pid_t pid : store::processes_in(state_->layout.data))
        ::kill(pid, SIGCONT);
}

void TempPostgres::start() {
    store::clear_remains(state_->layout);
    state_->pid = start_postmaster(state_->layout, state_->account);
}

TempDatabase::TempDatabase(bool empty)
    : url_(TempPostgres::instance().url(TempPostgres::instance().create_database(empty))) {}

std::string TempDatabase::sql(const std::string& script) const {
    return run_sql(url_, script);
}

}    // namespace slipway
