#include "api/protocol/slice_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace slipway {
namespace {

// Goal: the memory of a slice cannot be made larger, which no limit of a process would count, nor
// smaller, which would end its other members.
TEST(SliceMemory, its_size_stays) {
    const UniqueFd memory = make_slice_memory(2);
    struct stat facts {};
    ASSERT_EQ(fstat(memory.get(), &facts), 0);
    EXPECT_EQ(facts.st_size, 16 << 20);
    EXPECT_EQ(facts.st_blocks, 0) << "what is not written takes nothing";
    EXPECT_NE(ftruncate(memory.get(), 4096), 0);
    EXPECT_NE(ftruncate(memory.get(), facts.st_size + 4096), 0);
    EXPECT_NE(pwrite(memory.get(), "x", 1, facts.st_size), 1);
    EXPECT_NE(fcntl(memory.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE), 0) << "for the others";
}

}    // namespace
}    // namespace slipway
