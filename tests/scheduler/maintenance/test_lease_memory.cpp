#include "scheduler/maintenance/lease_memory.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using namespace std::chrono_literals;

constexpr auto lease_time = 10s;
constexpr auto connected = 1h;

store::HeldLease held(const std::string& host, Instant expires_at = {}) {
    return {.key = {"job_1", 1, "fence"}, .host = host, .expires_at = expires_at};
}

/// Seconds of looks, one a second, until it is silent; 0: it is not within a minute.
int seconds_until_silent(LeaseMemory& memory, const store::HeldLease& one, Tick& now) {
    for (int second = 1; second <= 60; ++second) {
        memory.look({one}, now, connected);
        now += 1s;
        if (!memory.silent("own", lease_time).empty()) return second;
    }
    return 0;
}

TEST(LeaseMemory, a_host_is_silent_after_a_lease_and_the_own_one_after_two) {
    Tick now{};
    LeaseMemory of_other, of_own;
    EXPECT_EQ(seconds_until_silent(of_other, held("other"), now), 11);
    EXPECT_EQ(seconds_until_silent(of_own, held("own"), now), 21);
}

TEST(LeaseMemory, any_change_is_a_heartbeat_also_one_to_an_earlier_time) {
    LeaseMemory memory;
    Tick now{};
    for (int second = 0; second < 60; ++second, now += 1s) {
        memory.look({held("other", Instant{-std::chrono::hours(second)})}, now, connected);
        EXPECT_TRUE(memory.silent("own", lease_time).empty());
    }
}

TEST(LeaseMemory, time_in_which_nothing_was_seen_counts_little) {
    LeaseMemory memory;
    Tick now{};
    memory.look({held("other")}, now, connected);
    memory.look({held("other")}, now + 1h, connected);    // the process was frozen
    EXPECT_TRUE(memory.silent("own", lease_time).empty());
    now += 1h;
    EXPECT_EQ(seconds_until_silent(memory, held("other"), now), 8);
}

TEST(LeaseMemory, it_begins_again_when_the_database_was_away) {
    LeaseMemory memory;
    Tick now{};
    for (int second = 0; second < 9; ++second, now += 1s)
        memory.look({held("other")}, now, connected);
    for (const auto since : {std::optional<std::chrono::milliseconds>{}, {500ms}}) {
        memory.look({held("other")}, now, since);
        now += 1s;
        EXPECT_TRUE(memory.silent("own", lease_time).empty());
    }
}

TEST(LeaseMemory, an_attempt_on_two_silent_hosts_is_lost_once) {
    LeaseMemory memory;
    for (int second = 0; second <= 20; ++second)
        memory.look({held("one"), held("other")}, Tick{} + std::chrono::seconds(second), connected);
    EXPECT_EQ(memory.silent("own", lease_time).size(), 1U);
}

}    // namespace
}    // namespace slipway
