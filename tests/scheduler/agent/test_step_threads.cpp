#include "scheduler/agent/step_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace slipway {
namespace {

TEST(StepThreads, every_step_is_done_once_and_before_wait_returns) {
    StepThreads threads(3);
    for (const std::size_t count : {0U, 1U, 2U, 4U, 100U}) {
        std::vector<std::atomic<int>> done(count);
        for (std::size_t i = 0; i < count; ++i)
            threads.add([&done, i] { ++done[i]; });
        threads.wait();
        for (const std::atomic<int>& times : done)
            EXPECT_EQ(times, 1) << "of " << count;
    }
}

TEST(StepThreads, steps_that_wait_for_each_other_are_done_at_the_same_time) {
    StepThreads threads(4);
    std::latch all_there(4);
    for (int i = 0; i < 4; ++i)
        threads.add([&] { all_there.arrive_and_wait(); });
    threads.wait();
}

TEST(StepThreads, who_adds_a_step_does_not_wait_for_it) {
    StepThreads threads(1);
    std::latch added(1);
    threads.add([&] { added.wait(); });
    added.count_down();
    threads.wait();
}

TEST(StepThreads, its_end_waits_for_the_step_that_has_begun) {
    std::latch begun(1);
    std::latch ending(1);
    bool done = false;
    {
        StepThreads threads(1);
        threads.add([&] {
            begun.count_down();
            ending.wait();
            done = true;
        });
        begun.wait();
        ending.count_down();
    }
    EXPECT_TRUE(done);
}

TEST(StepThreads, it_ends_without_having_done_anything) {
    StepThreads threads(2);
}

}    // namespace
}    // namespace slipway
