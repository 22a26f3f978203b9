// Goal: the whole queue is read at each pass while that is quick, and at intervals in proportion to
// its time when it is not.
#include "scheduler/maintenance/ready_memory.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

using namespace std::chrono_literals;

store::ReadyStarts some_starts() {
    return {.shapes = {
                {.project = "default", .group = "", .pool = "", .shape = 1000, .class_rank = 2}}};
}

TEST(ReadyMemory, knows_nothing_at_first) {
    EXPECT_FALSE(ReadyMemory{}.starts(system_clock().tick()));
}

TEST(ReadyMemory, a_quick_reading_is_always_of_the_whole) {
    ReadyMemory memory;
    const Tick now = system_clock().tick();
    memory.read_whole(some_starts(), now - ReadyMemory::quick, now);
    EXPECT_FALSE(memory.starts(now));
}

TEST(ReadyMemory, a_slow_reading_is_not_repeated_for_25_times_as_long) {
    ReadyMemory memory;
    const Tick now = system_clock().tick();
    memory.read_whole(some_starts(), now - 40ms, now);
    ASSERT_TRUE(memory.starts(now));
    EXPECT_EQ(memory.starts(now)->shapes.at(0).shape, 1000);
    EXPECT_TRUE(memory.starts(now + 999ms));
    EXPECT_FALSE(memory.starts(now + 1s));
}

TEST(ReadyMemory, nobody_waits_longer_than_ten_seconds_for_the_whole) {
    ReadyMemory memory;
    const Tick now = system_clock().tick();
    memory.read_whole(some_starts(), now - 3s, now);
    EXPECT_TRUE(memory.starts(now + 9999ms));
    EXPECT_FALSE(memory.starts(now + 10s));
}

}    // namespace
}    // namespace slipway
