#include "scheduler/store/pg/group_commit.h"

#include <gmock/gmock.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "tests/support/eventually.h"

namespace slipway::store {

namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

struct Number {
    int value = 0;
    int answer = 0;
};

/// Doubles numbers; the first group waits until it is told to go on.
class Doubling : public ::testing::Test {
protected:
    void double_all(std::span<Number* const> numbers) {
        std::vector<int> values;
        for (const Number* number : numbers)
            values.push_back(number->value);
        const bool is_first = [&] {
            const std::lock_guard lock(mutex);
            groups.push_back(values);
            return groups.size() == 1;
        }();
        if (is_first && first_waits) go_on.wait();
        for (Number* number : numbers) {
            if (number->value < 0)
                throw Error{
                    number->value == -1 ? ErrorCode::invalid_argument : ErrorCode::unavailable,
                    "a negative number"};
            number->answer = 2 * number->value;
        }
    }

    /// One number is being done; so many others are brought meanwhile, then all are done.
    void bring_behind_the_first(GroupCommit<Number>& used, std::vector<Number>& others) {
        Number first{.value = 1};
        std::vector<std::jthread> threads;
        threads.emplace_back([&] { used.add(first); });
        ASSERT_TRUE(eventually([&] { return groups_done() == 1; }));
        std::atomic<std::size_t> brought = 0;
        for (Number& other : others) {
            threads.emplace_back([&] {
                ++brought;
                try {
                    used.add(other);
                } catch (const Error& error) {
                    other.answer = error.code() == ErrorCode::unavailable ? -200 : -100;
                }
            });
        }
        // Some may still be on their way and form a group of their own: that is right, too.
        EXPECT_TRUE(eventually([&] { return brought == others.size(); }));
        go_on.count_down();
    }

    std::size_t groups_done() {
        const std::lock_guard lock(mutex);
        return groups.size();
    }

    static constexpr GroupCommitLimits patient{.groups_max = 1, .patience = std::chrono::hours(1)};
    bool first_waits = true;
    std::latch go_on{1};
    std::mutex mutex;
    std::vector<std::vector<int>> groups;    // guarded by mutex
    GroupCommit<Number> group{[this](std::span<Number* const> numbers) { double_all(numbers); },
                              patient};
};

TEST_F(Doubling, one_alone_is_done_at_once) {
    first_waits = false;
    Number number{.value = 21};
    group.add(number);
    EXPECT_EQ(number.answer, 42);
    EXPECT_THAT(groups, ElementsAre(ElementsAre(21)));
}

TEST_F(Doubling, those_that_come_meanwhile_are_done_together) {
    std::vector<Number> others(10);
    for (int i = 0; i < 10; ++i)
        others[std::size_t(i)].value = 10 + i;
    bring_behind_the_first(group, others);
    for (const Number& other : others)
        EXPECT_EQ(other.answer, 2 * other.value);
    EXPECT_LE(groups.size(), 3U);
}

TEST_F(Doubling, a_group_has_at_most_so_many) {
    GroupCommit<Number> small{[this](std::span<Number* const> numbers) { double_all(numbers); },
                              {.items_max = 4, .groups_max = 1, .patience = 1h}};
    std::vector<Number> others(10);
    bring_behind_the_first(small, others);
    std::size_t done = 0;
    for (const auto& one : groups) {
        EXPECT_LE(one.size(), 4U);
        done += one.size();
    }
    EXPECT_EQ(done, 11U);
}

TEST_F(Doubling, the_error_of_one_is_not_that_of_the_others) {
    std::vector<Number> others{{.value = 5}, {.value = -1}, {.value = 6}};
    bring_behind_the_first(group, others);
    EXPECT_EQ(others[0].answer, 10);
    EXPECT_EQ(others[1].answer, -100);
    EXPECT_EQ(others[2].answer, 12);
}

TEST_F(Doubling, when_nobody_knows_what_was_done_all_hear_it_and_nothing_is_done_again) {
    std::vector<Number> others{{.value = -2}, {.value = -2}, {.value = -2}};
    bring_behind_the_first(group, others);
    for (const Number& other : others)
        EXPECT_EQ(other.answer, -200);
    EXPECT_LE(groups.size(), 4U);
}

TEST_F(Doubling, a_group_that_takes_long_does_not_hold_the_next_one_up) {
    GroupCommit<Number> impatient{[this](std::span<Number* const> numbers) { double_all(numbers); },
                                  {.groups_max = 1, .patience = 5ms}};
    Number first{.value = 1};
    std::jthread waits([&] { impatient.add(first); });
    ASSERT_TRUE(eventually([&] { return groups_done() == 1; }));
    Number second{.value = 2};
    impatient.add(second);
    EXPECT_EQ(second.answer, 4);
    EXPECT_EQ(first.answer, 0);
    go_on.count_down();
}

TEST_F(Doubling, many_threads_get_each_their_answer) {
    first_waits = false;
    std::atomic<int> wrong = 0;
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 16; ++thread) {
            threads.emplace_back([&, thread] {
                for (int i = 0; i < 500; ++i) {
                    Number number{.value = 1000 * thread + i};
                    group.add(number);
                    wrong += number.answer != 2 * number.value;
                }
            });
        }
    }
    EXPECT_EQ(wrong, 0);
    std::multiset<int> done;
    for (const auto& one : groups)
        done.insert(one.begin(), one.end());
    EXPECT_THAT(done, SizeIs(8000));
}

}    // namespace

}    // namespace slipway::store
