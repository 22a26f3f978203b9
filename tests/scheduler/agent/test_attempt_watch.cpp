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
    WatchActions stop(Intent intent) { return on({.kind = Kind::stop, .intent = intent}); }

    Watch watch;
    WatchLimits limits;
    Tick now{1h};
};

TEST(AttemptWatch, the_ladder_is_request_then_term_then_kill_until_it_is_gone) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    EXPECT_EQ(bench.stop(Intent::cancel).request, Intent::cancel);
    const WatchActions early = bench.after(59999ms);
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

TEST(AttemptWatch, who_cannot_be_reached_may_be_silent_for_longer) {
    Bench bench;
    const auto cut_off_after = [&](std::chrono::milliseconds pause) {
        bench.now += pause;
        return bench.on({.kind = Kind::cut_off});
    };
    bench.on({.kind = Kind::heard});
    EXPECT_FALSE(cut_off_after(129999ms).kill);
    bench.on({.kind = Kind::heard});
    EXPECT_FALSE(cut_off_after(129999ms).kill);
    EXPECT_TRUE(cut_off_after(1ms).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::silent);
}

TEST(AttemptWatch, who_is_reached_again_has_its_time_to_speak) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    bench.now += 30s;
    EXPECT_FALSE(bench.on({.kind = Kind::cut_off}).kill);
    EXPECT_FALSE(bench.after(9999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
}

TEST(AttemptWatch, a_process_that_never_talks_gets_its_start_time) {
    Bench bench;
    EXPECT_FALSE(bench.after(19999ms).kill);
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::not_started);
}

TEST(AttemptWatch, a_second_request_does_not_restart_the_ladder_unless_it_is_sharper) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    EXPECT_EQ(bench.stop(Intent::pause).request, Intent::pause);
    EXPECT_FALSE(bench.after(20s).terminate);
    EXPECT_FALSE(bench.stop(Intent::pause).request);
    EXPECT_EQ(bench.stop(Intent::cancel).request, Intent::cancel);
    EXPECT_FALSE(bench.stop(Intent::cancel).request);
    EXPECT_FALSE(bench.stop(Intent::pause).request);
    EXPECT_TRUE(bench.after(60s).terminate);
    EXPECT_FALSE(bench.stop(Intent::cancel).request);
    EXPECT_EQ(bench.watch.cause, EndCause::cancel);
    EXPECT_TRUE(bench.stop(Intent::kill).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::kill);
    EXPECT_FALSE(bench.stop(Intent::cancel).request);
}

TEST(AttemptWatch, a_kill_asks_for_nothing_and_waits_for_nothing) {
    for (const bool cancelled : {false, true}) {
        Bench bench;
        bench.on({.kind = Kind::heard});
        if (cancelled) bench.stop(Intent::cancel);
        const WatchActions killed = bench.stop(Intent::kill);
        EXPECT_TRUE(killed.kill);
        EXPECT_FALSE(killed.request || killed.terminate);
        EXPECT_EQ(bench.watch.cause, EndCause::kill);
        EXPECT_FALSE(bench.stop(Intent::kill).kill) << "once, then every second";
        EXPECT_TRUE(bench.after(1s).kill);
    }
}

TEST(AttemptWatch, last_words_are_followed_by_the_exit_or_by_the_ladder) {
    Bench bench;
    bench.on({.kind = Kind::heard});
    const WatchActions said = bench.on({.kind = Kind::done_received});
    EXPECT_FALSE(said.request || said.terminate || said.kill);
    EXPECT_TRUE(bench.after(10s).terminate);
    EXPECT_EQ(bench.watch.cause, EndCause::lingering);
    EXPECT_TRUE(bench.on({.kind = Kind::exited}).gone);
}

TEST(AttemptWatch, a_fenced_process_is_killed_whatever_it_does) {
    for (const bool asked : {false, true}) {
        Bench bench;
        if (asked) bench.stop(Intent::cancel);
        EXPECT_TRUE(bench.on({.kind = Kind::kill, .cause = EndCause::fenced}).kill);
        EXPECT_EQ(bench.watch.cause, asked ? EndCause::cancel : EndCause::fenced);
    }
}

TEST(AttemptWatch, a_place_may_be_waited_for_as_long_as_it_takes) {
    Bench bench;
    for (int i = 0; i < 100; ++i) {
        bench.now += 1h;
        EXPECT_FALSE(bench.on({.kind = Kind::waits}).kill);
    }
    EXPECT_EQ(bench.watch.phase, Phase::waiting);
    EXPECT_FALSE(bench.after(1ms).kill) << "it has begun";
    EXPECT_FALSE(bench.after(19999ms).kill) << "the time of the start counts from there";
    EXPECT_TRUE(bench.after(1ms).kill);
    EXPECT_EQ(bench.watch.cause, EndCause::not_started);
}

TEST(AttemptWatch, who_waits_for_a_place_is_ended_at_once) {
    for (const Intent intent : {Intent::cancel, Intent::pause, Intent::preempt, Intent::timeout}) {
        Bench bench;
        bench.on({.kind = Kind::waits});
        const WatchActions actions = bench.stop(intent);
        EXPECT_TRUE(actions.kill);
        EXPECT_FALSE(actions.request);
        EXPECT_EQ(bench.watch.cause, cause_of(intent));
        EXPECT_TRUE(bench.after(1s).kill) << "until it is gone";
    }
}

TEST(AttemptWatch, who_is_heard_has_begun) {
    Bench bench;
    bench.on({.kind = Kind::waits});
    bench.on({.kind = Kind::heard});
    EXPECT_EQ(bench.watch.phase, Phase::talking);
    EXPECT_FALSE(bench.on({.kind = Kind::waits}).kill);
    EXPECT_EQ(bench.watch.phase, Phase::talking);
}

// Whatever happens, in whatever order: after the stop ladder's whole time nothing is left undone.
TEST(AttemptWatch, any_sequence_that_holds_a_stop_ends_in_a_kill) {
    std::mt19937_64 random(5);
    constexpr std::array kinds{Kind::tick, Kind::heard, Kind::stop, Kind::done_received};
    constexpr std::array requests{Intent::cancel, Intent::timeout, Intent::pause, Intent::preempt};
    for (int round = 0; round < 2000; ++round) {
        Bench bench;
        bench.stop(requests[random() % requests.size()]);
        bool killed = false;
        Tick cancelled = bench.now;
        for (int i = 0; i < 400 && !killed; ++i) {
            bench.now += std::chrono::milliseconds(random() % 1000);
            const WatchEvent event{.kind = kinds[random() % kinds.size()],
                                   .intent = requests[random() % requests.size()]};
            killed = bench.on(event).kill;
        }
        EXPECT_TRUE(killed) << "round " << round;
        EXPECT_LE(bench.now - cancelled, 60s + 60s + 5s + 10s);
    }
}

}    // namespace
}    // namespace slipway
