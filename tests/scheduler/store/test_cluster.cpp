#include "scheduler/store/cluster/cluster.h"

#include <gmock/gmock.h>
#include <libpq-fe.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "migrations/migrate.h"
#include "scheduler/store/cluster/layout.h"
#include "scheduler/store/cluster/log_limit.h"
#include "scheduler/store/jobs.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"
#include "tests/support/temp_folder.h"

namespace slipway::store {

namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

class ClusterTest : public ::testing::Test {
protected:
    ClusterTest() {
        // The user postgres must be able to enter it.
        fs::permissions(folder.path(), fs::perms(0755));
    }

    ClusterOptions options(const fs::path& where) const {
        return {.home = where, .durable = false};
    }
    ClusterOptions options() const { return options(home); }

    static bool answers(const std::string& database) {
        return PQping(database.c_str()) == PQPING_OK;
    }

    /// The message with which a cluster is refused.
    std::string refusal(const ClusterOptions& wanted, ErrorCode code) {
        try {
            const Cluster cluster(wanted);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), code);
            return error.what();
        }
        ADD_FAILURE() << "the cluster started";
        return {};
    }

    TempFolder folder;
    const fs::path home = folder.path() / "home";
    const ClusterLayout layout = layout_of(home);
};

TEST_F(ClusterTest, is_made_once_and_keeps_its_data) {
    const std::string id = new_id("job");
    for (const bool first : {true, false}) {
        Cluster cluster({.home = home});    // as in service: durable
        EXPECT_GT(cluster.pid(), 0);
        migrations::up(cluster.database_url());
        Store store{{.database = cluster.database_url()}};
        if (first) {
            submit_jobs(store, std::vector{NewJob{.id = id, .name = "kept", .spec = "{}"}}, {},
                        [](std::span<const Job>) { return StoredResponse{}; });
        }
        EXPECT_EQ(find_job(store, id)->name, "kept");
        const int pid = cluster.pid();
        cluster.stop();
        cluster.stop();
        EXPECT_EQ(cluster.pid(), 0);
        EXPECT_NE(kill(pid, 0), 0);
    }
    EXPECT_FALSE(find_postmaster(layout));
}

TEST_F(ClusterTest, listens_on_a_socket_that_others_cannot_reach) {
    const Cluster cluster(options());
    struct stat found {};
    ASSERT_EQ(stat(layout.sockets.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    ASSERT_EQ(stat(layout.data.c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0700U);
    EXPECT_EQ(found.st_uid == 0, false) << "PostgreSQL does not run as root";
    Store store{{.database = cluster.database_url()}};
    store.ping();
    EXPECT_EQ(refusal(options(), ErrorCode::conflict).empty(), false);    // one slipwayd per home
}

// Goal: kill -9 of slipwayd and kill -9 of PostgreSQL, alone and together.
TEST_F(ClusterTest, is_found_again_and_recovers_after_every_kill) {
    auto first = std::make_unique<Cluster>(options());
    const std::string database = first->database_url();
    migrations::up(database);
    const int pid = first->pid();

    // PostgreSQL is killed: the watch starts it again.
    kill(pid, SIGKILL);
    ASSERT_TRUE(eventually([&] { return first->pid() > 0 && first->pid() != pid; }, 60s));
    ASSERT_TRUE(eventually([&] { return answers(database); }, 60s));

    // slipwayd is killed: the next one takes over the same process.
    const int running = first->pid();
    first->release();
    first.reset();
    EXPECT_EQ(kill(running, 0), 0);
    auto second = std::make_unique<Cluster>(options());
    EXPECT_EQ(second->pid(), running);
    EXPECT_TRUE(answers(database));

    // Both are killed: postmaster.pid is stale, the cluster recovers.
    second->release();
    second.reset();
    kill(running, SIGKILL);
    ASSERT_TRUE(wait_for_end(running, 20s));
    ASSERT_TRUE(fs::exists(layout.data / "postmaster.pid"));
    auto third = std::make_unique<Cluster>(options());
    EXPECT_NE(third->pid(), running);
    EXPECT_EQ(migrations::status(database).size(), migrations::all().size());

    // Stale again, and the process id belongs to somebody else now: to us.
    const int last = third->pid();
    third->release();
    third.reset();
    kill(last, SIGKILL);
    ASSERT_TRUE(wait_for_end(last, 20s));
    clear_remains(layout);
    std::ofstream(layout.data / "postmaster.pid") << getpid() << "\n" << layout.data.string();
    const Cluster fourth(options());
    EXPECT_TRUE(answers(database));
}

TEST_F(ClusterTest, an_interrupted_initdb_is_begun_again) {
    make_folders(layout, postgres_account());
    fs::create_directories(layout.folder / "data.new" / "half");
    const Cluster cluster(options());
    EXPECT_TRUE(answers(cluster.database_url()));
}

TEST_F(ClusterTest, a_home_too_long_for_a_socket_has_its_socket_elsewhere) {
    const fs::path deep = folder.path() / std::string(60, 'a') / std::string(60, 'b');
    const ClusterLayout there = layout_of(deep);
    EXPECT_LT(there.sockets.string().size(), 92U);
    EXPECT_THAT(there.sockets.string(), Not(HasSubstr(std::string(17, 'a'))));
    EXPECT_NE(there.sockets, layout_of(deep / "c").sockets);
    const Cluster cluster(options(deep));
    EXPECT_TRUE(answers(cluster.database_url()));
    fs::remove_all(there.sockets);
}

TEST_F(ClusterTest, a_home_that_postgres_cannot_enter_is_refused_with_the_way_out) {
    if (geteuid() != 0) GTEST_SKIP() << "only root runs PostgreSQL as another user";
    const fs::path closed = folder.path() / "closed";
    fs::create_directories(closed / "home");
    fs::permissions(closed, fs::perms::owner_all);
    const std::string message = refusal(options(closed / "home"), ErrorCode::invalid_argument);
    EXPECT_THAT(message, HasSubstr("chmod o+x " + closed.string()));
    EXPECT_THAT(message, HasSubstr("--home"));
    EXPECT_FALSE(fs::exists(closed / "home" / "postgres"));
}

TEST_F(ClusterTest, another_version_and_missing_tools_are_refused_with_the_way_out) {
    make_folders(layout, postgres_account());
    fs::create_directories(layout.data);
    std::ofstream(layout.data / "PG_VERSION") << "9\n";
    EXPECT_THAT(refusal(options(), ErrorCode::invalid_argument), HasSubstr("postgresql-9"));
    ClusterOptions wrong = options(folder.path() / "other");
    wrong.tools = folder.path();
    EXPECT_THAT(refusal(wrong, ErrorCode::invalid_argument), HasSubstr("install"));
}

TEST_F(ClusterTest, one_that_does_not_start_says_why) {
    { const Cluster cluster(options()); }
    fs::remove(layout.data / "global" / "pg_control");
    const std::string message = refusal(options(), ErrorCode::unavailable);
    EXPECT_THAT(message, HasSubstr("pg_control"));
    EXPECT_FALSE(find_postmaster(layout));
}

/// The one value of a query; of what is refused, the reason.
std::string answer(const std::string& address, const std::string& query) {
    const std::unique_ptr<pg_conn, void (*)(pg_conn*)> session(PQconnectdb(address.c_str()),
                                                               PQfinish);
    const std::unique_ptr<pg_result, void (*)(pg_result*)> result(
        PQexec(session.get(), query.c_str()), PQclear);
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) return "done";
    if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return PQerrorMessage(session.get());
    return PQntuples(result.get()) > 0 ? PQgetvalue(result.get(), 0, 0) : "";
}

void expect_plain_role(const std::string& address) {
    EXPECT_EQ(answer(address, "select current_user"), "slipway");
    EXPECT_EQ(answer(address,
                     "select rolsuper or rolcreatedb or rolcreaterole or rolreplication or "
                     "rolbypassrls from pg_roles where rolname = 'slipway'"),
              "f");
    EXPECT_EQ(answer(address,
                     "select string_agg(rolname, ' ' order by rolname) from pg_roles where "
                     "rolcanlogin"),
              "postgres slipway");
    EXPECT_THAT(answer(address, "copy (select 1) to program 'true'"),
                HasSubstr("must be superuser"));
    EXPECT_THAT(answer(address, "select pg_read_file('/etc/passwd')"), HasSubstr("denied"));
    EXPECT_THAT(answer(address, "alter role slipway superuser"), HasSubstr("must be superuser"));
    EXPECT_THAT(answer(address, "create database other"), HasSubstr("denied"));
    EXPECT_THAT(answer(address, "set role postgres"), HasSubstr("denied"));
    EXPECT_EQ(answer(address,
                     "select count(*) from pg_class where relnamespace = "
                     "'public'::regnamespace and relowner <> 'slipway'::regrole"),
              "0");
    EXPECT_EQ(answer(address,
                     "select count(*) from pg_proc where pronamespace = "
                     "'public'::regnamespace and proowner <> 'slipway'::regrole and not exists "
                     "(select from pg_depend where objid = pg_proc.oid and deptype = 'e')"),
              "0");
    // Those of the extension stay the superuser's, however often the service starts.
    EXPECT_EQ(
        answer(address, "select bool_and(proowner = 10) from pg_proc where proname = 'similarity'"),
        "t");
}

TEST_F(ClusterTest, the_service_is_a_plain_role) {
    const Cluster cluster(options());
    migrations::up(cluster.database_url());
    expect_plain_role(cluster.database_url());
}

/// The message with which a connection of ours is refused; empty: it is not.
std::string connection_problem(const ClusterLayout& layout, const std::string& database,
                               const std::string& role) {
    const std::unique_ptr<pg_conn, void (*)(pg_conn*)> session(
        PQconnectdb(address_of(layout, database, role).c_str()), PQfinish);
    return PQstatus(session.get()) == CONNECTION_OK ? "" : PQerrorMessage(session.get());
}

// Goal: a client with the service's name gets nothing that the service does not need.
TEST_F(ClusterTest, nobody_connects_as_a_superuser) {
    const Cluster cluster(options());
    EXPECT_EQ(connection_problem(layout, "slipway", "slipway"), "");
    for (const char* database : {"slipway", "postgres", "template1"})
        for (const char* role : {"postgres", "slipway_upgrade", "root", "games"})
            EXPECT_THAT(connection_problem(layout, database, role),
                        HasSubstr("pg_hba.conf rejects"))
                << database << role;
    EXPECT_THAT(connection_problem(layout, "postgres", "slipway"),
                HasSubstr("pg_hba.conf rejects"));
}

// Goal: a home whose users could be the superuser is taken over, while its PostgreSQL still runs.
TEST_F(ClusterTest, one_with_a_superuser_for_the_service_is_closed) {
    auto first = std::make_unique<Cluster>(options());
    migrations::up(first->database_url());
    const int running = first->pid();
    first->release();
    first.reset();
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(layout.data / name) << text;
    };
    write("pg_hba.conf", "local all all trust\n");
    kill(running, SIGHUP);
    ASSERT_TRUE(
        eventually([&] { return connection_problem(layout, "postgres", "postgres").empty(); }));
    // As a backup that a superuser has restored.
    ASSERT_EQ(answer(address_of(layout, "slipway", "postgres"), "create table left_over (i int)"),
              "done");
    for (int start = 0; start < 2; ++start) {
        const Cluster cluster(options());
        expect_plain_role(cluster.database_url());
        EXPECT_THAT(connection_problem(layout, "postgres", "postgres"), HasSubstr("rejects"));
        EXPECT_EQ(migrations::status(cluster.database_url()).size(), migrations::all().size());
    }
}

// Goal: what the first version laid out, a superuser `slipway` whom anybody is trusted to be, goes
// on without loss, whether it runs still or not, and also when the change was interrupted.
TEST_F(ClusterTest, one_of_the_first_version_is_taken_over) {
    const std::optional<Account> account = postgres_account();
    const fs::path tools = find_tools(layout, {});
    const std::string id = new_id("job");
    make_folders(layout, account);
    create_cluster(layout, tools, account, false);
    const pid_t pid = start_process(postmaster_command(layout, tools, account, false));
    const std::string address = address_of(layout, "slipway");
    ASSERT_TRUE(eventually([&] { return answers(address); }, 60s));
    ASSERT_EQ(answer(address_of(layout, "postgres"), "create database slipway"), "done");
    migrations::up(address);
    {
        Store store{{.database = address}};
        submit_jobs(store, std::vector{NewJob{.id = id, .name = "kept", .spec = "{}"}}, {},
                    [](std::span<const Job>) { return StoredResponse{}; });
    }
    ASSERT_EQ(answer(address, "select rolsuper from pg_roles where rolname = current_user"), "t");
    ASSERT_EQ(answer(address, "create role slipway_upgrade superuser login"), "done");
    const std::string tables = answer(address, "select count(*) from pg_class");
    for (int start = 0; start < 2; ++start) {
        Cluster cluster(options());
        EXPECT_NE(cluster.pid(), pid) << "it was stopped for this";
        expect_plain_role(address);
        EXPECT_EQ(answer(address, "select count(*) from pg_class"), tables);
        // What only an owner may: the next version's migrations.
        EXPECT_EQ(answer(address,
                         "alter table job add column next int; alter table job drop "
                         "column next"),
                  "done");
        Store store{{.database = address}};
        EXPECT_EQ(find_job(store, id)->name, "kept");
        cluster.stop();
    }
}

TEST_F(ClusterTest, its_log_repeats_nothing_of_what_users_send) {
    const Cluster cluster(options());
    const std::string address = cluster.database_url();
    answer(address, "create table said (text text unique)");
    for (int i = 0; i < 2; ++i)
        answer(address, "insert into said values ('a secret')");
    answer(address, "select 'a secret' from nowhere");
    const std::string log = read_file(layout.log);
    EXPECT_THAT(log, HasSubstr("duplicate key"));
    EXPECT_THAT(log, HasSubstr("\"nowhere\" does not exist"));
    EXPECT_THAT(log, Not(HasSubstr("a secret")));
}

TEST_F(ClusterTest, its_log_stays_small) {
    ClusterOptions small = options();
    small.log_limit = {.bytes_max = 16 * 1024, .bytes_kept = 1024};
    const Cluster cluster(small);
    const std::string address = cluster.database_url();
    for (int i = 0; fs::file_size(layout.log) < 2 * small.log_limit.bytes_max && i < 1000; ++i)
        answer(address, "select * from nowhere");
    EXPECT_TRUE(eventually([&] { return fs::file_size(layout.log) <= small.log_limit.bytes_max; }));
    answer(address, "select * from afterwards");
    EXPECT_THAT(read_file(layout.log), HasSubstr("afterwards")) << "PostgreSQL goes on in it";
}

TEST(LogLimits, the_last_whole_lines_are_kept) {
    const TempFolder folder;
    const fs::path path = folder.path() / "log";
    const LogLimit limit{.bytes_max = 100, .bytes_kept = 20};
    folder.write("log", std::string(91, 'x') + "\nlast one");
    limit_log(path, limit);
    EXPECT_EQ(read_file(path), std::string(91, 'x') + "\nlast one") << "no more than is allowed";
    folder.write("log", std::string(92, 'x') + "\nlast one");
    limit_log(path, limit);
    EXPECT_EQ(read_file(path), "last one");
    folder.write("log", std::string(101, 'x'));
    limit_log(path, limit);
    EXPECT_EQ(read_file(path), "") << "a part of a line says nothing";
}

TEST(LogLimits, what_is_not_the_log_is_left_alone) {
    const TempFolder folder;
    const LogLimit limit{.bytes_max = 100, .bytes_kept = 20};
    const std::string other(101, 'x');
    folder.write("other", other);
    EXPECT_NO_THROW(limit_log(folder.path() / "none", limit));
    fs::create_symlink(folder.path() / "other", folder.path() / "link");
    EXPECT_THROW(limit_log(folder.path() / "link", limit), Error);
    fs::create_hard_link(folder.path() / "other", folder.path() / "name");
    EXPECT_NO_THROW(limit_log(folder.path() / "name", limit));
    EXPECT_EQ(read_file(folder.path() / "other"), other);
}

TEST_F(ClusterTest, another_user_is_refused_even_at_an_open_socket) {
    if (geteuid() != 0) GTEST_SKIP() << "only root runs programs as other users";
    const Cluster cluster(options());
    for (const fs::path& open : {home, layout.folder, layout.sockets})
        fs::permissions(open, fs::perms(0755));
    fs::permissions(layout.sockets / ".s.PGSQL.5432", fs::perms(0777));
    const auto connects = [&](const std::optional<Account>& who, const std::string& role) {
        return run_process({.words = {(find_tools(layout, {}) / "psql").string(), "-c", "select 1",
                                      address_of(layout, "slipway", role)},
                            .account = who,
                            .output = {}}) == 0;
    };
    const Account stranger{.name = "nobody", .uid = 65534, .gid = 65534, .groups = {}};
    EXPECT_TRUE(connects(std::nullopt, "slipway"));
    EXPECT_TRUE(connects(postgres_account(), "slipway")) << "pg_dump, as docs/operating.md says";
    EXPECT_FALSE(connects(stranger, "slipway"));
    EXPECT_FALSE(connects(stranger, "postgres"));
    EXPECT_FALSE(connects(std::nullopt, "postgres"));
    EXPECT_FALSE(connects(postgres_account(), "postgres"));
}

}    // namespace

}    // namespace slipway::store
