#include "server/main/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <future>

namespace slipway {
namespace {

TEST(StopSignals, the_first_signal_says_what_is_asked) {
    {
        StopSignals signals;
        raise(SIGTERM);
        EXPECT_EQ(signals.wait(), OperatorRequest::stop);
    }
    StopSignals signals;
    raise(SIGUSR1);
    EXPECT_EQ(signals.wait(), OperatorRequest::drain);
}

TEST(StopSignals, a_second_one_means_now) {
    std::promise<void> now;
    StopSignals signals;
    raise(SIGINT);
    EXPECT_EQ(signals.wait(), OperatorRequest::stop);
    signals.on_second([&] { now.set_value(); });
    raise(SIGUSR1);    // only asks to drain, which is not more urgent
    raise(SIGTERM);
    EXPECT_EQ(now.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
}

TEST(StopSignals, a_closed_pipe_ends_nothing) {
    StopSignals signals;
    raise(SIGPIPE);
    raise(SIGHUP);
}

TEST(StopSignals, a_hangup_asks_for_the_log_and_not_for_the_end) {
    int before = 0;
    std::promise<void> after;
    StopSignals signals;
    signals.on_hangup([&] {
        if (++before == 3) after.set_value();
    });
    raise(SIGHUP);
    raise(SIGHUP);
    raise(SIGTERM);
    EXPECT_EQ(signals.wait(), OperatorRequest::stop);
    EXPECT_EQ(before, 2);
    signals.on_second([] { FAIL() << "a hangup is no second request"; });
    raise(SIGHUP);
    EXPECT_EQ(after.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
}

}    // namespace
}    // namespace slipway
