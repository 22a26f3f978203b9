#include "scheduler/launcher/slice_memories.h"

#include <gtest/gtest.h>

#include <string>

namespace slipway {
namespace {

MemberPlace place(const std::string& slice, int rank) {
    return {.slice = slice, .rank = rank, .count = 3};
}

TEST(SliceMemories, members_of_a_slice_are_given_the_same) {
    SliceMemories memories;
    const auto first = memories.take(place("job_1/1", 2));
    const auto other = memories.take(place("job_1/2", 0));
    ASSERT_TRUE(first && *first);
    EXPECT_NE(first, other);
    EXPECT_EQ(memories.take(place("job_1/1", 0)), first);
    EXPECT_EQ(memories.take(place("job_1/1", 0)), first) << "whose program did not start, again";
    EXPECT_EQ(memories.count(), 2U);
    EXPECT_EQ(memories.take(place("job_1/1", 1)), first);
    EXPECT_EQ(memories.count(), 1U) << "nobody else is to come";
}

// Goal: members that never come, since they are on other machines, leave nothing for good.
TEST(SliceMemories, what_is_kept_for_members_to_come_is_bounded) {
    SliceMemories memories;
    const auto first = memories.take(place("job_0/1", 0));
    for (std::size_t i = 1; i <= SliceMemories::slices_max; ++i)
        memories.take(place("job_" + std::to_string(i) + "/1", 0));
    EXPECT_EQ(memories.count(), SliceMemories::slices_max);
    EXPECT_NE(memories.take(place("job_0/1", 1)), first);
}

}    // namespace
}    // namespace slipway
