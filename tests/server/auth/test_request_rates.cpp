#include "server/auth/request_rates.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

using namespace std::chrono_literals;

TEST(RequestRates, a_burst_is_let_in_and_then_so_many_a_second) {
    RequestRates rates(10, 3);
    const Tick began{1h};
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(rates.admit("tok_a", began));
    EXPECT_NEAR(rates.admit("tok_a", began).value(), 0.1, 1e-9);
    EXPECT_NEAR(rates.admit("tok_a", began + 50ms).value(), 0.05, 1e-9);
    EXPECT_FALSE(rates.admit("tok_a", began + 100ms));
    EXPECT_TRUE(rates.admit("tok_a", began + 100ms));
    for (int i = 0; i < 3; ++i)
        EXPECT_FALSE(rates.admit("tok_a", began + 1h)) << "no more than the burst is saved up";
    EXPECT_TRUE(rates.admit("tok_a", began + 1h));
}

TEST(RequestRates, a_refused_request_costs_nothing) {
    RequestRates rates(1, 1);
    const Tick began{1h};
    EXPECT_FALSE(rates.admit("tok_a", began));
    for (int i = 0; i < 1000; ++i)
        EXPECT_TRUE(rates.admit("tok_a", began + 500ms));
    EXPECT_FALSE(rates.admit("tok_a", began + 1s));
}

TEST(RequestRates, each_token_has_its_own_and_zero_is_no_limit) {
    RequestRates rates(1, 1);
    const Tick began{1h};
    EXPECT_FALSE(rates.admit("tok_a", began));
    EXPECT_FALSE(rates.admit("tok_b", began));
    EXPECT_TRUE(rates.admit("tok_a", began));
    RequestRates none(0, 1);
    for (int i = 0; i < 1000; ++i)
        EXPECT_FALSE(none.admit("tok_a", began));
}

// Goal: memory is bounded, and a token that is limited stays so while others come and go.
TEST(RequestRates, those_that_are_idle_are_forgotten_first) {
    RequestRates rates(1, 1000);
    const Tick began{1h};
    for (int i = 0; i < 1000; ++i)
        EXPECT_FALSE(rates.admit("tok_busy", began + 10s));
    for (std::size_t i = 0; i < RequestRates::tokens_max - 1; ++i)
        EXPECT_FALSE(rates.admit("tok_" + std::to_string(i), began));
    EXPECT_FALSE(rates.admit("tok_new", began + 10s));
    EXPECT_TRUE(rates.admit("tok_busy", began + 10s));
}

}    // namespace
}    // namespace slipway
