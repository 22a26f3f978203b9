#include "scheduler/agent/thread_share.h"

#include <gtest/gtest.h>

namespace slipway {
namespace {

TEST(ThreadShare, is_the_cores_share_of_the_cpus_and_at_least_one_thread) {
    EXPECT_EQ(thread_share(1, 8, 2), 1);
    EXPECT_EQ(thread_share(8, 8, 2), 2);
    EXPECT_EQ(thread_share(1, 8, 16), 2);
    EXPECT_EQ(thread_share(8, 8, 16), 16);
    EXPECT_EQ(thread_share(1, 8, 12), 1);
    EXPECT_EQ(thread_share(8, 8, 12), 12);
    EXPECT_EQ(thread_share(1, 1, 4), 4);
    EXPECT_EQ(thread_share(8, 8, 256), 64);    // as many as a run takes
}

TEST(UsableCpus, are_one_at_least) {
    EXPECT_GE(usable_cpu_count(), 1);
}

}    // namespace
}    // namespace slipway
