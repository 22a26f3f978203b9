#include "scheduler/store/pg/pool.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>

#include "scheduler/store/jobs.h"
#include "scheduler/store/queries.h"
#include "tests/scheduler/store/samples.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

class PoolTest : public StoreTest {
protected:
    ~PoolTest() override {
        // The next test of this process needs its PostgreSQL.
        if (TempPostgres::instance().pid() == 0) TempPostgres::instance().start();
    }
};

milliseconds time_of(const std::function<void()>& call) {
    const Tick begin = system_clock().tick();
    call();
    return std::chrono::duration_cast<milliseconds>(system_clock().tick() - begin);
}

/// Of twenty calls: in one of them no other process took the CPU.
milliseconds least_time_of(const std::function<void()>& call) {
    milliseconds least = milliseconds::max();
    for (int i = 0; i < 20; ++i)
        least = std::min(least, time_of(call));
    return least;
}

bool answers(Store& store) {
    try {
        store.ping();
        return true;
    } catch (const Error&) {
        return false;
    }
}

TEST_F(PoolTest, values_survive_the_way_to_the_database_and_back) {
    const Query echo{"echo",
                     "select $1::text as a, $2::text[] as b, $3::bigint as c, "
                     "$4::double precision as d, $5::boolean as e, $6::timestamptz as f, "
                     "$7::int[] as g, null::int as h"};
    const std::string text = "\"quotes\" 'and' \\ {braces}, \n \xc3\xa9";
    const std::vector<std::string> texts{text, "", "NULL", "a,b", " "};
    const Instant time = parse_rfc3339("1999-12-31T23:59:59.000001Z").value();
    const Rows rows =
        read(store.pool(), echo,
             {text, texts, std::int64_t(-5), 0.1, true, time, std::vector<int>{1, -2}});
    const Row row = rows[0];
    EXPECT_EQ(row.text("a"), text);
    EXPECT_EQ(row.texts("b"), texts);
    EXPECT_EQ(row.integer("c"), -5);
    EXPECT_EQ(row.number("d"), 0.1);
    EXPECT_TRUE(row.flag("e"));
    EXPECT_EQ(row.time("f"), time);
    EXPECT_EQ(row.smalls("g"), (std::vector<int>{1, -2}));
    EXPECT_TRUE(row.is_null("h"));
    EXPECT_FALSE(row.maybe_integer("h"));
    const Rows odd = read(
        store.pool(), echo,
        {"", std::vector<std::string>{}, std::nullopt, -HUGE_VAL, false, time, std::vector<int>{}});
    EXPECT_TRUE(odd[0].texts("b").empty());
    EXPECT_TRUE(std::isinf(odd[0].number("d")));
}

TEST_F(PoolTest, an_error_in_a_pipeline_undoes_it_and_leaves_the_connection_usable) {
    const Pool::Lease lease = store.pool().acquire();
    const Query good{"good", "create temporary table pipeline_test (a int)"};
    const Query bad{"bad", "select 1 / 0 as x"};
    const Query late{"late", "select 2 as x"};
    const std::vector<Statement> statements{{&good, {}}, {&bad, {}}, {&late, {}}};
    EXPECT_EQ(code_of([&] { lease->run(statements); }), ErrorCode::invalid_argument);
    EXPECT_FALSE(lease->broken());
    EXPECT_EQ(lease->run(late)[0].integer("x"), 2);
    const Query there{"there", "select to_regclass('pipeline_test') is not null as x"};
    EXPECT_FALSE(lease->run(there)[0].flag("x"));
}

TEST_F(PoolTest, an_unfinished_transaction_is_rolled_back) {
    const std::string id = submit();
    {
        const Pool::Lease lease = store.pool().acquire();
        Transaction transaction(*lease);
        transaction.run(queries::move_job,
                        {id, "cancelled", std::nullopt, std::nullopt, std::nullopt});
    }
    EXPECT_EQ(state_of(id), JobState::queued);
}

TEST_F(PoolTest, sessions_are_bound_by_limits) {
    Store strict{
        {.database = database.url(), .application_name = "strict", .statement_timeout = 100ms}};
    const Query nap{"nap", "select pg_sleep(10)"};
    EXPECT_EQ(code_of([&] { read(strict.pool(), nap); }), ErrorCode::unavailable);
    const Query settings{
        "settings",
        "select current_setting('application_name') as name, "
        "current_setting('idle_in_transaction_session_timeout') as idle, "
        "current_setting('lock_timeout') as lock, current_setting('timezone') as zone"};
    const Rows rows = read(strict.pool(), settings);
    EXPECT_EQ(rows[0].text("name"), "strict");
    EXPECT_EQ(rows[0].text("idle"), "10s");
    EXPECT_EQ(rows[0].text("lock"), "2s");
    EXPECT_EQ(rows[0].text("zone"), "UTC");
    EXPECT_EQ(code_of([] { Store{{.database = "nonsense="}}.ping(); }),
              ErrorCode::invalid_argument);
}

TEST_F(PoolTest, a_busy_pool_says_so_in_time) {
    Store small{{.database = database.url(), .connections_max = 1, .acquire_timeout = 50ms}};
    const Pool::Lease lease = small.pool().acquire();
    EXPECT_EQ(code_of([&] { small.ping(); }), ErrorCode::unavailable);
}

// Goal: F8 in small. While the database is down every call fails at once; when it is back, so is
// the pool, by itself.
TEST_F(PoolTest, a_stopped_database_fails_fast_and_comes_back) {
    const std::string id = submit();
    EXPECT_TRUE(store.connected_for());
    TempPostgres::instance().stop();
    EXPECT_EQ(code_of([&] { store.ping(); }), ErrorCode::unavailable);
    EXPECT_FALSE(store.connected_for());
    EXPECT_LT(least_time_of([&] {
                  EXPECT_EQ(code_of([&] { find_job(store, id); }), ErrorCode::unavailable);
              }),
              50ms);
    TempPostgres::instance().start();
    EXPECT_TRUE(eventually([&] { return store.connected_for().has_value(); }));
    EXPECT_EQ(state_of(id), JobState::queued);
}

// A frozen server accepts connections and says nothing: one caller waits for its time limit, the
// others are told at once.
TEST_F(PoolTest, a_frozen_database_is_down_after_one_time_limit) {
    Store impatient{
        {.database = database.url(), .connect_timeout = 500ms, .statement_timeout = 100ms}};
    impatient.ping();
    // Its backends are processes of their own: nobody answers.
    TempPostgres::instance().freeze();
    EXPECT_EQ(code_of([&] { impatient.ping(); }), ErrorCode::unavailable);
    EXPECT_FALSE(impatient.connected_for());
    EXPECT_LT(least_time_of(
                  [&] { EXPECT_EQ(code_of([&] { impatient.ping(); }), ErrorCode::unavailable); }),
              50ms);
    TempPostgres::instance().thaw();
    EXPECT_TRUE(eventually([&] { return impatient.connected_for().has_value(); }));
    impatient.ping();
}

TEST_F(PoolTest, a_killed_database_recovers_what_was_committed) {
    const std::string id = submit();
    TempPostgres::instance().kill();
    EXPECT_EQ(code_of([&] { submit(); }), ErrorCode::unavailable);
    TempPostgres::instance().start();
    // A backend that outlives its parent for a moment can lose the connection at the commit, which
    // is not tried again and makes no new connection: only who asks learns that it is back.
    EXPECT_TRUE(eventually([&] { return answers(store); }));
    EXPECT_TRUE(store.connected_for());
    EXPECT_EQ(state_of(id), JobState::queued);
    EXPECT_EQ(count("job"), 1);
}

TEST_F(PoolTest, terminated_sessions_are_replaced_without_a_failure) {
    submit();
    for (int i = 0; i < 5; ++i) {
        database.sql(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where datname = current_database() and pid <> pg_backend_pid()");
        EXPECT_EQ(list_jobs(store, {}, {}).items.size(), 1U + std::size_t(i));
        submit();
    }
}

// The pool has another connection and so makes none; what it answers must count all the same, or
// nobody would rescue the attempts of lost hosts any more.
TEST_F(PoolTest, a_lost_session_is_no_outage_while_another_answers) {
    {
        const Pool::Lease first = store.pool().acquire();
        const Pool::Lease second = store.pool().acquire();
        const Query own_pid{"own_pid", "select pg_backend_pid() as pid"};
        // Given back in the reverse order: the first is the next to be taken.
        const std::int64_t pid = first->run(own_pid)[0].integer("pid");
        second->run(queries::ping);
        database.sql(fmt::format("select pg_terminate_backend({}, 5000)", pid));
    }
    store.ping();
    EXPECT_TRUE(store.connected_for());
}

// Goal: a deadlock is the database's business and ours, not the caller's.
// Goal: a refused connection is the refused caller's matter alone while another one answers.
// Method: the database takes no new connections for a while; the one that is open goes on.
TEST_F(PoolTest, a_refused_connection_is_no_outage_while_another_answers) {
    Store mine{{.database = database.url(), .acquire_timeout = 300ms}};
    const std::string name = database.sql("select current_database()");
    std::optional<Pool::Lease> held = mine.pool().acquire();
    (*held)->run(queries::ping);
    // From another database: a session cannot close its own to others.
    Store outside{{.database = TempPostgres::instance().url("postgres")}};
    outside.pool().acquire()->execute("alter database " + name + " allow_connections false");
    EXPECT_FALSE(answers(mine)) << "no connection is free, and none can be made";
    held.reset();
    EXPECT_TRUE(answers(mine)) << "the open one is free again";
    EXPECT_TRUE(mine.connected_for());
    {
        const Pool::Lease again = mine.pool().acquire();
        EXPECT_LT(time_of([&] { EXPECT_FALSE(answers(mine)); }), 5s);
    }
    EXPECT_TRUE(answers(mine));
}

// Method: the one whose transaction was ended goes on when the other one has committed. If it began
// again at once, the two could meet again, three times in a row.
TEST_F(PoolTest, a_deadlock_is_run_again) {
    const std::string first = submit();
    const std::string second = submit();
    std::barrier both(2);
    std::atomic<bool> one_has_committed = false;
    std::atomic<int> runs = 0;
    const auto rename = [&](const std::string& one, const std::string& other) {
        bool again = false;
        transact(store.pool(), [&](Transaction& transaction) {
            ++runs;
            if (again) one_has_committed.wait(false);
            transaction.run(queries::patch_job,
                            {one, "renamed", std::nullopt, std::nullopt, std::nullopt});
            if (!again) both.arrive_and_wait();
            again = true;
            transaction.run(queries::patch_job,
                            {other, "renamed", std::nullopt, std::nullopt, std::nullopt});
        });
        one_has_committed = true;
        one_has_committed.notify_all();
    };
    {
        std::jthread thread([&] { rename(first, second); });
        rename(second, first);
    }
    EXPECT_EQ(runs, 3) << "one of the two ran twice";
    EXPECT_EQ(find_job(store, first)->name, "renamed");
    EXPECT_EQ(find_job(store, second)->name, "renamed");
}

}    // namespace

}    // namespace slipway::store
