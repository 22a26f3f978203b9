#include "scheduler/store/hosts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "api/base/clock.h"
#include "api/base/id.h"
#include "api/base/sha256.h"
#include "tests/scheduler/store/samples.h"

namespace slipway::store {

namespace {

using ::testing::ElementsAre;
using namespace std::chrono_literals;

class Hosts : public StoreTest {};

TEST_F(Hosts, a_host_offers_its_cores_until_it_falls_silent) {
    register_host(store, {.name = "b", .cores = 2});
    register_host(store, {.name = "a", .cores = 3, .physical_cpus = 2, .memory_bytes = 1LL << 40});
    const std::vector<Host> hosts = list_hosts(store);
    ASSERT_EQ(hosts.size(), 2U);
    EXPECT_EQ(hosts[0].name, "a");
    EXPECT_EQ(hosts[0].memory_bytes, 1LL << 40);
    EXPECT_LT(hosts[0].silent_for, 60s);
    EXPECT_EQ(list_cores(store).size(), 5U);

    database.sql(
        "update host set heartbeat_at = clock_timestamp() - interval '1 minute' "
        "where name = 'a'");
    EXPECT_GT(list_hosts(store).at(0).silent_for, 59s);
    for (const Core& core : list_cores(store))
        EXPECT_EQ(core.alive, core.host == "b");
    renew_leases(store, "a", {}, 10s);
    EXPECT_TRUE(list_cores(store).at(0).alive);
}

// Goal: two machines cannot be one host, and a machine that starts again is not kept waiting.
TEST_F(Hosts, a_name_that_is_in_use_is_refused) {
    const Host first{.name = "a", .instance = "one", .home = "x"};
    const Host restarted{.name = "a", .instance = "two", .home = "x"};
    const Host other{.name = "a", .cores = 2, .instance = "three", .home = "y"};
    register_host(store, first);
    EXPECT_TRUE(record_heartbeat(store, "a", "one"));
    EXPECT_EQ(code_of([&] { register_host(store, other); }), ErrorCode::conflict);
    EXPECT_EQ(list_cores(store).size(), 8U) << "nothing of it was stored";
    register_host(store, restarted);
    EXPECT_FALSE(record_heartbeat(store, "a", "one"));
    EXPECT_TRUE(record_heartbeat(store, "a", "two"));
    database.sql("update host set heartbeat_at = clock_timestamp() - interval '11 seconds'");
    register_host(store, other);
    EXPECT_FALSE(record_heartbeat(store, "a", "two"));
    EXPECT_EQ(list_cores(store).size(), 2U);
    EXPECT_EQ(code_of([&] { register_host(store, restarted); }), ErrorCode::conflict);
}

TEST_F(Hosts, draining_outlives_a_restart_of_the_host) {
    add_host();
    EXPECT_TRUE(drain_core(store, host, 3, true));
    EXPECT_TRUE(drain_core(store, host, 3, true));
    EXPECT_TRUE(drain_core(store, host, 1, true));
    add_host();
    EXPECT_THAT(list_hosts(store).at(0).drained, ElementsAre(1, 3));
    EXPECT_TRUE(list_cores(store).at(2).drained);
    EXPECT_TRUE(drain_core(store, host, 3, false));
    EXPECT_THAT(list_hosts(store).at(0).drained, ElementsAre(1));
    EXPECT_FALSE(drain_core(store, host, 9, true));
    EXPECT_FALSE(drain_core(store, host, 0, true));
    EXPECT_FALSE(drain_core(store, "moon", 1, true));
}

TEST_F(Hosts, a_drained_host_keeps_its_reason_and_gets_no_job_until_it_is_taken_back) {
    add_host();
    EXPECT_TRUE(drain_host(store, host, "new disk", "tok_a"));
    const std::optional<HostDrain> first = list_hosts(store).at(0).drain;
    ASSERT_TRUE(first);
    EXPECT_TRUE(drain_host(store, host, "new memory", "tok_b"));
    add_host();    // as after a restart
    const std::optional<HostDrain> drain = list_hosts(store).at(0).drain;
    ASSERT_TRUE(drain);
    EXPECT_EQ(drain->reason, "new memory");
    EXPECT_EQ(drain->by, "tok_b");
    EXPECT_EQ(drain->at, first->at) << "since then it takes no job";
    EXPECT_TRUE(drain_core(store, host, 2, true));
    for (const Core& core : list_cores(store)) {
        ASSERT_TRUE(core.host_drain);
        EXPECT_EQ(core.host_drain->reason, "new memory");
        EXPECT_EQ(core.drained, core.core == 2);
    }
    const std::string job = submit();
    EXPECT_FALSE(commit_placements(store, {placement(job, {1})}).at(0).attempt);
    EXPECT_TRUE(undrain_host(store, host));
    EXPECT_TRUE(undrain_host(store, host));
    EXPECT_FALSE(list_hosts(store).at(0).drain);
    EXPECT_THAT(list_hosts(store).at(0).drained, ElementsAre(2));
    EXPECT_TRUE(commit_placements(store, {placement(job, {1})}).at(0).attempt);
    EXPECT_FALSE(drain_host(store, "moon", "", ""));
    EXPECT_FALSE(undrain_host(store, "moon"));
}

/// Ends with its uses, its time and its maker.
struct JoinTokens : Hosts {
    std::string maker = new_id("tok");
    JoinTokens() {
        database.sql("insert into token (id, name, lookup, sha256, role, root) values ('" + maker +
                     "', 't', 'l', repeat('a', 64), 'admin', '" + maker + "')");
    }
    /// Its sha256.
    std::string join_token(const std::string& for_host = "", int uses = 1,
                           std::chrono::seconds ends_in = 60s) {
        const JoinToken token{.id = new_id("hjt"),
                              .sha256 = sha256_hex(new_id("x")),
                              .host = for_host,
                              .uses = uses,
                              .created_by = maker,
                              .expires_at = system_clock().now() + ends_in};
        create_join_token(store, token);
        return token.sha256;
    }
    bool joins(const Host& one, const std::string& token = "") {
        try {
            register_host(store, one, 10s, token);
            return true;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::conflict);
            return false;
        }
    }
    const Host first{.name = "a", .instance = "one", .home = "x"};
};

TEST_F(JoinTokens, a_removed_host_is_gone_until_it_joins_again) {
    register_host(store, first);
    EXPECT_TRUE(drain_core(store, "a", 2, true));
    EXPECT_EQ(code_of([&] { remove_host(store, "a", maker); }), ErrorCode::conflict) << "it works";
    EXPECT_TRUE(drain_host(store, "a", "old", maker));
    EXPECT_TRUE(remove_host(store, "a", maker));
    EXPECT_FALSE(remove_host(store, "a", maker));
    EXPECT_TRUE(list_hosts(store).empty());
    EXPECT_TRUE(list_cores(store).empty());
    EXPECT_FALSE(record_heartbeat(store, "a", "one"));
    EXPECT_FALSE(drain_host(store, "a", "", "") || undrain_host(store, "a") ||
                 drain_core(store, "a", 1, true));
    EXPECT_FALSE(commit_placements(store, {placement(submit(), {1})}).at(0).attempt);
    const Host elsewhere{.name = "a", .instance = "two", .home = "y"};
    const Host renamed{.name = "b", .instance = "three", .home = "x"};
    for (const Host& one : {first, elsewhere, renamed}) {
        EXPECT_FALSE(joins(one));
        EXPECT_FALSE(joins(one, sha256_hex("guessed")));
    }
    EXPECT_TRUE(list_hosts(store).empty());
    EXPECT_TRUE(joins(first, join_token()));
    const Host back = list_hosts(store).at(0);
    EXPECT_FALSE(back.drain);
    EXPECT_THAT(back.drained, ElementsAre());
    EXPECT_TRUE(record_heartbeat(store, "a", "one"));
    EXPECT_TRUE(joins(first)) << "as after a restart";
    EXPECT_EQ(database.sql("select token_id || ' ' || object from audit where action = "
                           "'host_joined'"),
              maker + " a");
}

TEST_F(JoinTokens, the_other_hosts_of_a_machine_stay_when_one_of_them_is_removed) {
    const Host second{.name = "a-2", .instance = "two", .home = "x"};
    register_host(store, first);
    register_host(store, second);
    drain_host(store, "a-2", "", maker);
    EXPECT_TRUE(remove_host(store, "a-2", maker));
    EXPECT_TRUE(joins(first)) << "as after a restart";
    EXPECT_FALSE(joins(second));
    EXPECT_FALSE(joins({.name = "b", .instance = "three", .home = "x"}));
}

TEST_F(JoinTokens, a_token_is_good_for_its_host_its_uses_and_its_time_while_its_maker_is) {
    const std::string one_use = join_token(), of_b = join_token("b"), two = join_token("", 2),
                      late = join_token("", 1, -1s);
    const auto host_named = [](const char* name) {
        return Host{.name = name, .instance = name, .home = name};
    };
    EXPECT_TRUE(joins(host_named("c"), one_use));
    EXPECT_TRUE(joins(host_named("c"), one_use)) << "it has joined and uses none";
    EXPECT_FALSE(joins(host_named("d"), one_use));
    EXPECT_FALSE(joins(host_named("d"), of_b));
    EXPECT_TRUE(joins(host_named("b"), of_b));
    EXPECT_FALSE(joins(host_named("d"), late));
    EXPECT_TRUE(joins(host_named("d"), two));
    EXPECT_TRUE(joins(host_named("e"), two));
    EXPECT_FALSE(joins(host_named("f"), two));
    const std::string orphan = join_token();
    database.sql("update token set revoked_at = clock_timestamp()");
    EXPECT_FALSE(joins(host_named("f"), orphan));
    EXPECT_TRUE(joins(host_named("f"))) << "a new host needs none";
}

TEST_F(JoinTokens, of_hosts_that_join_at_once_one_gets_the_last_use) {
    const std::string token = join_token("", 3);
    std::atomic<int> joined = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            const std::string name = fmt::format("h{}", i);
            if (joins({.name = name, .instance = name, .home = name}, token)) ++joined;
        });
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(joined, 3);
    EXPECT_EQ(list_hosts(store).size(), 3U);
}

TEST_F(JoinTokens, those_that_ended_long_ago_are_forgotten) {
    join_token("", 1, -25h);
    join_token("", 1, -1h);
    EXPECT_EQ(prune_join_tokens(store), 1);
    EXPECT_EQ(prune_join_tokens(store), 0);
}

TEST_F(JoinTokens, a_host_with_attempts_is_not_removed_and_a_lost_one_is) {
    const AttemptKey key = running_job();
    EXPECT_TRUE(drain_host(store, host, "", maker));
    try {
        remove_host(store, host, maker);
        ADD_FAILURE() << "it was removed";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::conflict);
        EXPECT_NE(std::string(error.what()).find(key.job_id), std::string::npos) << error.what();
    }
    finish_attempt(store, key, {.exit_kind = "failed", .job_state = JobState::failed});
    EXPECT_TRUE(undrain_host(store, host));
    EXPECT_EQ(code_of([&] { remove_host(store, host, maker); }), ErrorCode::conflict);
    database.sql("update host set heartbeat_at = clock_timestamp() - interval '11 seconds'");
    EXPECT_TRUE(remove_host(store, host, maker));
}

TEST_F(Hosts, a_core_shows_who_holds_it) {
    const AttemptKey key = running_job();
    const Core core = list_cores(store).at(0);
    EXPECT_EQ(core.job_id, key.job_id);
    EXPECT_EQ(core.attempt, 1);
    EXPECT_TRUE(core.leased_at && core.lease_expires_at);
    EXPECT_EQ(list_cores(store).at(1).job_id, "");
}

// Goal: every project has one user for good, also when two processes give them out at once.
TEST_F(Hosts, each_project_has_a_number_of_its_own_and_keeps_it) {
    Store other{{.database = database.url()}};
    std::map<std::string, int> first;
    std::map<std::string, int> second;
    const auto ask = [](Store& mine, std::map<std::string, int>& found, int begin) {
        for (int i = 0; i < 20; ++i) {
            const std::string project = fmt::format("project-{}", (begin + i) % 20);
            found[project] = executor_number(mine, project).value();
        }
    };
    {
        const std::jthread thread([&] { ask(other, second, 10); });
        ask(store, first, 0);
    }
    EXPECT_EQ(first, second);
    std::set<int> numbers;
    for (const auto& [project, number] : first)
        numbers.insert(number);
    EXPECT_EQ(numbers.size(), 20U);
    EXPECT_EQ(*numbers.begin(), 1);
}

TEST_F(Hosts, projects_beyond_the_last_number_are_refused) {
    database.sql("insert into project (name, number) values ('last', 60000)");
    EXPECT_EQ(executor_number(store, "last"), 60000);
    EXPECT_EQ(executor_number(store, "another"), std::nullopt);
    EXPECT_EQ(code_of([&] {
                  create_dataset(store, {.id = new_id("ds"), .project = "another", .name = "d"});
              }),
              ErrorCode::exhausted);
    EXPECT_EQ(count("dataset"), 0);
}

}    // namespace

}    // namespace slipway::store
