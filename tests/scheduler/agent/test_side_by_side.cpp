#include "scheduler/agent/side_by_side.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace slipway {
namespace {

using Steps = std::vector<std::function<void()>>;

TEST(SideBySide, every_step_is_done_once_and_before_run_returns) {
    SideBySide side_by_side(3);
    for (const std::size_t count : {0U, 1U, 2U, 4U, 100U}) {
        std::vector<std::atomic<int>> done(count);
        Steps steps;
        for (std::size_t i = 0; i < count; ++i)
            steps.emplace_back([&done, i] { ++done[i]; });
        side_by_side.run(steps);
        for (const std::atomic<int>& times : done)
            EXPECT_EQ(times, 1) << "of " << count;
    }
}

TEST(SideBySide, steps_that_wait_for_each_other_are_done_at_the_same_time) {
    SideBySide side_by_side(3);
    std::latch all_there(4);
    side_by_side.run(Steps(4, [&] { all_there.arrive_and_wait(); }));
}

TEST(SideBySide, it_ends_without_having_done_anything) {
    SideBySide side_by_side(2);
}

}    // namespace
}    // namespace slipway
