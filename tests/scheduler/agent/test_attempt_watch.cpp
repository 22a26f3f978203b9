#include "scheduler/agent/attempt_watch.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace slipway {
namespace {

using namespace std::chrono_literals;
using Kind = WatchEvent::Kind;
using Phase = Watch::Phase;

/// A watched process and the time, moved by hand.
struct Bench {
    Bench() { watch.since = watch.heard = now; }

    WatchActions after(std::chrono::milliseconds pause) {
        now += pause;
        return step(watch, {.kind = Kind::tick}, now, limits);
    }
    WatchActions on(const WatchEvent& event) { return step(watch, event, now, limits); }
    WatchActions stop(StopRequest request) { return on({.kind = Kind::stop, .request = request}); }

    Watch watch;
    WatchLimits limits;
    Tick now{1h};
};

TEST(AttemptWatch, the_ladder_is_request_then_term_then_kill_until_it_is_gone) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    EXPECT_EQ(bench.stop(StopRequest::cancel).request, StopRequest::cancel);
    const WatchActions early = bench.after(9999ms);
    EXPECT_FALSE(early.terminate || early.kill);
    EXPECT_TRUE(bench.after(1ms).terminate);
    EXPECT_FALSE(bench.after(4999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_FALSE(bench.after(999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_TRUE(bench.on({.kind = Kind::exited}).gone);
    EXPECT_EQ(bench.watch.cause, EndCause::cancel);
    EXPECT_FALSE(bench.on({.kind = Kind::exited}).gone);
}

TEST(AttemptWatch, a_silent_process_is_killed_at_once_and_one_that_talks_is_not) {
    Bench bench;
    for (int i = 0; i < 100; ++i) {
        EXPECT_FALSE(bench.after(9s).kill);
        bench.on({.kind = Kind::heard});
    }
    EXPECT_FALSE(bench.after(9999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::silent);
}

TEST(AttemptWatch, a_process_that_never_talks_gets_its_start_time) {
    Bench bench;
    EXPECT_FALSE(bench.after(19999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::not_started);
}

TEST(AttemptWatch, a_second_request_does_not_restart_the_ladder_but_cancel_beats_drain) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    EXPECT_EQ(bench.stop(StopRequest::drain).request, StopRequest::drain);
    EXPECT_FALSE(bench.after(20s).terminate);
    EXPECT_FALSE(bench.stop(StopRequest::drain).request);
    EXPECT_EQ(bench.stop(StopRequest::cancel).request, StopRequest::cancel);
    EXPECT_FALSE(bench.stop(StopRequest::cancel).request);
    EXPECT_TRUE(bench.after(10s).terminate);
    EXPECT_FALSE(bench.stop(StopRequest::cancel).request);
    EXPECT_EQ(bench.watch.cause, EndCause::cancel);
}

TEST(AttemptWatch, last_words_are_followed_by_the_exit_or_by_the_ladder) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    const WatchActions said = bench.on({.kind = Kind::done_said});
    EXPECT_FALSE(said.request || said.terminate || said.kill);
    EXPECT_TRUE(bench.after(10s).terminate);
    EXPECT_EQ(bench.watch.cause, EndCause::lingering);
    EXPECT_TRUE(bench.on({.kind = Kind::exited}).gone);
}

TEST(AttemptWatch, a_fenced_process_is_killed_whatever_it_does) {
    for (const bool asked : {false, true}) {
        Bench bench;
        if (asked) bench.stop(StopRequest::cancel);
        EXPECT_TRUE(bench.on({.kind = Kind::kill, .cause = EndCause::fenced}).kill);
        EXPECT_EQ(bench.watch.cause, asked ? EndCause::cancel : EndCause::fenced);
    }
}

// Whatever happens, in whatever order: after the stop ladder's whole time nothing is left undone.
TEST(AttemptWatch, any_sequence_that_holds_a_stop_ends_in_a_kill) {
    std::mt19937_64 random(5);
    constexpr std::array kinds{Kind::tick, Kind::heard, Kind::stop, Kind::done_said};
    constexpr std::array requests{StopRequest::cancel, StopRequest::timeout, StopRequest::drain};
    for (int round = 0; round < 2000; ++round) {
        Bench bench;
        bench.stop(requests[random() % requests.size()]);
        bool killed = false;
        Tick cancelled = bench.now;
        for (int i = 0; i < 400 && !killed; ++i) {
            bench.now += std::chrono::milliseconds(random() % 1000);
            const WatchEvent event{.kind = kinds[random() % kinds.size()],
                                   .request = requests[random() % requests.size()]};
            killed = bench.on(event).kill;
        }
        EXPECT_TRUE(killed) << "round " << round;
        EXPECT_LE(bench.now - cancelled, 60s + 10s + 5s + 10s);
    }
}

}    // namespace
}    // namespace slipway
