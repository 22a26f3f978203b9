#include "scheduler/store/hosts.h"

#include <gmock/gmock.h>

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

TEST_F(Hosts, a_core_shows_who_holds_it) {
    const AttemptKey key = running_job();
    const Core core = list_cores(store).at(0);
    EXPECT_EQ(core.job_id, key.job_id);
    EXPECT_EQ(core.attempt, 1);
    EXPECT_TRUE(core.leased_at && core.lease_expires_at);
    EXPECT_EQ(list_cores(store).at(1).job_id, "");
}

}    // namespace

}    // namespace slipway::store
