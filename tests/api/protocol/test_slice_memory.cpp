#include "api/protocol/slice_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

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

TEST(SliceMemory, an_environment_that_names_no_descriptor_means_none) {
    for (const char* text : {"", "six", "6 ", "-", "99999999999999999999"}) {
        setenv(slice_memory_variable, text, 1);
        EXPECT_EQ(inherited_slice_memory(), -1) << text;
    }
    setenv(slice_memory_variable, "6", 1);
    EXPECT_EQ(inherited_slice_memory(), 6);
    unsetenv(slice_memory_variable);
    EXPECT_EQ(inherited_slice_memory(), -1);
}

}    // namespace
}    // namespace slipway
