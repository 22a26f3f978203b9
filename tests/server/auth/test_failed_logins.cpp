#include "server/auth/failed_logins.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace slipway {
namespace {

using namespace std::chrono_literals;

constexpr Tick start{24h};

TEST(FailedLogins, one_address_does_not_keep_others_out) {
    FailedLogins failed;
    int noted = 0;
    for (int i = 0; i < 10000; ++i)
        noted += failed.admit("192.0.2.1", start).has_value() ? 1 : 0;
    EXPECT_EQ(noted, FailedLogins::burst_of_address);
    EXPECT_EQ(failed.admit("192.0.2.2", start), 10000U - FailedLogins::burst_of_address);
    EXPECT_EQ(failed.admit("192.0.2.1", start + 59s), std::nullopt);
    EXPECT_EQ(failed.admit("192.0.2.1", start + 61s), 1U);
}

TEST(FailedLogins, many_addresses_are_noted_within_a_bound) {
    FailedLogins failed;
    const auto noted_at = [&](Tick now) {
        int noted = 0;
        for (int i = 0; i < 5000; ++i)
            noted += failed.admit(fmt::format("2001:db8::{:x}", i), now).has_value() ? 1 : 0;
        return noted;
    };
    EXPECT_EQ(noted_at(start), FailedLogins::burst_of_all);
    EXPECT_EQ(noted_at(start + 50s), 10);    // one every five seconds
    EXPECT_EQ(failed.admit("192.0.2.9", start + 60s), 5000U - 10);
}

}    // namespace
}    // namespace slipway
