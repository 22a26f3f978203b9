// Goal: pages of an arena that ended are used again, and no more are kept than was said.

#include "executor/runtime/arena.h"

#include <gtest/gtest.h>

#include <cstring>

#include "api/base/error.h"

namespace slipway {
namespace {

constexpr std::int64_t small_bytes = 16384, large_bytes = std::int64_t{1} << 20;

class Arenas : public ::testing::Test {
protected:
    ~Arenas() override { keep_released_arenas(0); }

    static void use(std::int64_t byte_count) {
        Arena arena;
        arena.reserve(byte_count);
        std::memset(arena.data(), 7, std::size_t(byte_count));
    }
};

TEST_F(Arenas, keep_nothing_unless_told) {
    use(small_bytes);
    EXPECT_EQ(kept_arena_bytes(), 0);
}

TEST_F(Arenas, of_the_same_size_take_the_pages_of_those_that_ended) {
    keep_released_arenas(2 * large_bytes);
    use(large_bytes);
    use(small_bytes);
    EXPECT_EQ(kept_arena_bytes(), large_bytes + small_bytes);
    Arena first, second;
    first.reserve(large_bytes - 100);
    EXPECT_EQ(kept_arena_bytes(), small_bytes) << "as many pages";
    EXPECT_EQ(first.byte_count(), large_bytes);
    second.reserve(large_bytes);
    EXPECT_EQ(kept_arena_bytes(), small_bytes);
    EXPECT_NE(first.data(), second.data());
    first.reserve(2 * large_bytes);
    EXPECT_EQ(kept_arena_bytes(), small_bytes + large_bytes) << "what it had";
}

TEST_F(Arenas, that_ended_first_go_first_and_one_that_is_too_large_is_not_kept) {
    keep_released_arenas(large_bytes);
    use(small_bytes);
    use(2 * large_bytes);
    EXPECT_EQ(kept_arena_bytes(), small_bytes);
    use(large_bytes);
    EXPECT_EQ(kept_arena_bytes(), large_bytes);
    keep_released_arenas(0);
    EXPECT_EQ(kept_arena_bytes(), 0);
}

TEST_F(Arenas, give_back_what_is_kept_where_memory_is_short_and_say_when_there_is_none) {
    keep_released_arenas(2 * large_bytes);
    use(large_bytes);
    Arena arena;
    EXPECT_THROW(arena.reserve(std::int64_t{1} << 60), Error);
    EXPECT_EQ(kept_arena_bytes(), 0);
    arena.reserve(small_bytes);
    EXPECT_EQ(arena.byte_count(), small_bytes);
}

}    // namespace
}    // namespace slipway
