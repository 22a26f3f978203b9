#include "scheduler/store/pg/shared_read.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "api/base/error.h"
#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

// Goal: an answer is never older than its question.
// Method: a counter that is written before each question; what is read must have reached it.
TEST(SharedRead, an_answer_is_never_older_than_its_question) {
    SharedRead<std::string, int> shared;
    std::atomic<int> written = 0;
    std::atomic<int> reads = 0;
    std::atomic<int> old = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&] {
                for (int i = 0; i < 1000; ++i) {
                    const int asked_at = ++written;
                    const auto answer = shared.get("key", [&] {
                        ++reads;
                        const int value = written;
                        std::this_thread::yield();
                        return value;
                    });
                    old += *answer < asked_at;
                }
            });
        }
    }
    EXPECT_EQ(old, 0);
    EXPECT_LE(reads, 8000);
}

/// Ten ask while a read runs; how many reads there were together.
int reads_of_eleven(SharedRead<int, int>& shared) {
    std::latch begun{1};
    std::latch go_on{1};
    std::atomic<int> reads = 0;
    std::atomic<int> asked = 0;
    std::atomic<int> right = 0;
    {
        std::vector<std::jthread> threads;
        threads.emplace_back([&] {
            shared.get(7, [&] {
                ++reads;
                begun.count_down();
                go_on.wait();
                return 1;
            });
        });
        begun.wait();
        for (int i = 0; i < 10; ++i)
            threads.emplace_back([&] {
                ++asked;
                right += *shared.get(7, [&] {
                    ++reads;
                    return 2;
                }) == 2;
            });
        EXPECT_EQ(*shared.get(8, [] { return 3; }), 3) << "another key does not wait";
        EXPECT_TRUE(eventually([&] { return asked == 10; }));
        go_on.count_down();
    }
    EXPECT_EQ(right, 10);
    return reads;
}

TEST(SharedRead, those_who_ask_meanwhile_share_the_next_read) {
    SharedRead<int, int> shared;
    int reads = 0;
    for (int round = 0; round < 20; ++round)
        reads += reads_of_eleven(shared);
    // Two each, if nobody is late; without sharing eleven.
    EXPECT_LT(reads, 20 * 6);
}

TEST(SharedRead, an_error_is_that_of_all_who_asked_and_is_not_kept) {
    SharedRead<int, int> shared;
    EXPECT_THROW(shared.get(1,
                            []() -> int {
                                throw Error{ErrorCode::unavailable, "the database is down"};
                            }),
                 Error);
    EXPECT_EQ(*shared.get(1, [] { return 5; }), 5);
}

TEST(SharedRead, who_asked_before_the_last_read_began_finds_its_answer) {
    SharedRead<int, int> shared;
    const Tick earlier = system_clock().tick();
    EXPECT_EQ(*shared.get(1, [] { return 5; }), 5);
    const Tick later = system_clock().tick();
    EXPECT_EQ(*shared.get(1, earlier, [] { return 6; }), 5);
    EXPECT_EQ(*shared.get(1, later, [] { return 7; }), 7) << "it may have changed since";
    EXPECT_EQ(*shared.get(1, [] { return 8; }), 8) << "now";
}

TEST(SharedRead, answers_of_a_thousand_keys_are_not_kept) {
    SharedRead<int, int> shared;
    const Tick at = system_clock().tick();
    for (int key = 0; key < 1000; ++key)
        EXPECT_EQ(*shared.get(key, at, [&] { return key; }), key);
    EXPECT_EQ(*shared.get(0, at, [] { return -1; }), -1) << "read again";
}

}    // namespace

}    // namespace slipway::store
