#include "executor/tensor/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace slipway {
namespace {

/// How often each number was worked at.
std::vector<int> calls_of(std::int64_t count, int threads) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(count));
    parallel_for(count, threads, [&](std::int64_t i) { ++calls.at(std::size_t(i)); });
    return {calls.begin(), calls.end()};
}

TEST(ParallelFor, each_number_comes_once_whatever_the_threads) {
    for (const std::int64_t count : {0, 1, 2, 7, 1000})
        for (const int threads : {0, 1, 2, 3, 16})
            EXPECT_EQ(calls_of(count, threads), std::vector<int>(std::size_t(count), 1))
                << count << " numbers on " << threads << " threads";
}

TEST(ParallelFor, works_on_as_many_threads_as_there_may_be) {
    std::barrier all_are_here(4);    // which fewer threads would never pass
    std::atomic<int> calls = 0;
    parallel_for(4, 4, [&](std::int64_t) {
        all_are_here.arrive_and_wait();
        ++calls;
    });
    EXPECT_EQ(calls, 4);
}

TEST(ParallelFor, one_thread_is_the_caller_s_and_goes_in_order) {
    const std::thread::id main_thread = std::this_thread::get_id();
    std::vector<std::int64_t> order;
    parallel_for(5, 1, [&](std::int64_t i) {
        EXPECT_EQ(std::this_thread::get_id(), main_thread);
        order.push_back(i);
    });
    EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(ParallelFor, the_first_exception_reaches_the_caller_and_nothing_begins_after_it) {
    std::vector<std::int64_t> begun;
    try {
        parallel_for(10, 1, [&](std::int64_t i) {
            begun.push_back(i);
            if (i == 3) throw std::runtime_error("number 3");
        });
        ADD_FAILURE() << "it was lost";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "number 3");
    }
    EXPECT_EQ(begun, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(ParallelFor, an_exception_of_any_number_reaches_the_caller_from_any_thread) {
    for (std::int64_t bad = 0; bad < 64; ++bad) {
        std::vector<std::atomic<int>> calls(64);
        EXPECT_THROW(parallel_for(64, 4,
                                  [&](std::int64_t i) {
                                      ++calls.at(std::size_t(i));
                                      if (i == bad) throw std::out_of_range("bad");
                                  }),
                     std::out_of_range);
        EXPECT_TRUE(std::ranges::all_of(calls, [](int times) { return times <= 1; }));
        EXPECT_EQ(calls.at(std::size_t(bad)), 1);
    }
}

TEST(ParallelFor, two_exceptions_at_once_are_one) {
    std::barrier both_are_here(2);
    EXPECT_THROW(parallel_for(2, 2,
                              [&](std::int64_t) {
                                  both_are_here.arrive_and_wait();
                                  throw std::runtime_error("both");
                              }),
                 std::runtime_error);
}

// Goal: where no thread can be made, the caller does all of it.
// Method: a child process that may have no further thread. Root may always: it becomes nobody.
TEST(ParallelFor, goes_on_alone_where_no_thread_can_be_made) {
    const pid_t child = fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0) _exit(2);
        const rlimit none{.rlim_cur = 0, .rlim_max = 0};
        if (setrlimit(RLIMIT_NPROC, &none) != 0) _exit(3);
        try {
            std::thread([] {}).join();
            _exit(4);    // the limit is none
        } catch (const std::system_error&) {
        }
        const bool is_complete = calls_of(1000, 8) == std::vector<int>(1000, 1);
        bool is_told = false;
        try {
            parallel_for(3, 8, [](std::int64_t) { throw std::runtime_error("all the same"); });
        } catch (const std::runtime_error&) {
            is_told = true;
        }
        _exit(is_complete && is_told ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ThreadCount, none_given_is_one_for_each_cpu) {
    EXPECT_EQ(thread_count(3), 3);
    EXPECT_GE(thread_count(0), 1);
    EXPECT_EQ(thread_count(-1), thread_count(0));
}

}    // namespace
}    // namespace slipway
