#include "server/routes/long_poll.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

struct StillClock : Clock {
    Tick tick_now{};
    Instant now() const override { return {}; }
    Tick tick() const override { return tick_now; }
};

Request waiting(double waited_s, const std::string& id = "r1") {
    Request request;
    request.headers = {{"prefer", "wait=10"}};
    request.request_id = id;
    request.path = "/v1/jobs/job_1";
    request.waited_s = waited_s;
    return request;
}

TEST(LongPolls, without_prefer_the_answer_comes_at_once) {
    StillClock clock;
    LongPolls polls(clock);
    Request request = waiting(0);
    request.headers.clear();
    EXPECT_FALSE(polls.wait(request, "queued", false).has_value());
}

TEST(LongPolls, a_change_ends_the_wait) {
    StillClock clock;
    LongPolls polls(clock);
    EXPECT_TRUE(polls.wait(waiting(0), "queued", false).has_value());
    EXPECT_TRUE(polls.wait(waiting(0.2), "queued", false).has_value());
    EXPECT_FALSE(polls.wait(waiting(0.4), "running", false).has_value());
}

TEST(LongPolls, time_ends_the_wait) {
    StillClock clock;
    LongPolls polls(clock);
    EXPECT_TRUE(polls.wait(waiting(0), "queued", false).has_value());
    EXPECT_TRUE(polls.wait(waiting(9.9), "queued", false).has_value());
    EXPECT_FALSE(polls.wait(waiting(10), "queued", false).has_value());
}

TEST(LongPolls, what_will_not_change_is_not_waited_for) {
    StillClock clock;
    LongPolls polls(clock);
    EXPECT_FALSE(polls.wait(waiting(0), "failed", true).has_value());
    EXPECT_TRUE(polls.wait(waiting(0, "r2"), "running", false).has_value());
    EXPECT_FALSE(polls.wait(waiting(0.2, "r2"), "running", true).has_value());
}

TEST(LongPolls, requests_do_not_mix) {
    StillClock clock;
    LongPolls polls(clock);
    EXPECT_TRUE(polls.wait(waiting(0, "a"), "queued", false).has_value());
    EXPECT_TRUE(polls.wait(waiting(0, "b"), "running", false).has_value());
    EXPECT_TRUE(polls.wait(waiting(0.2, "a"), "queued", false).has_value());
    EXPECT_TRUE(polls.wait(waiting(0.2, "b"), "running", false).has_value());
}

// Goal: clients that went away are forgotten, and until then a flood of them does no harm.
TEST(LongPolls, memory_is_bounded) {
    StillClock clock;
    LongPolls polls(clock);
    int taken = 0;
    for (int i = 0; i < 10000; ++i)
        if (polls.wait(waiting(0, std::to_string(i)), "queued", false)) ++taken;
    EXPECT_EQ(taken, 4096);
    clock.tick_now += std::chrono::minutes{3};
    EXPECT_TRUE(polls.wait(waiting(0, "later"), "queued", false).has_value());
}

}    // namespace
}    // namespace slipway
