#include "executor/runtime/workers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace slipway {
namespace {

TEST(Workers, each_do_the_task_once) {
    Workers workers(4);
    for (int round = 0; round < 200; ++round) {
        std::vector<int> calls(4);
        workers.run([&](int worker) { ++calls[std::size_t(worker)]; });
        EXPECT_EQ(calls, (std::vector<int>{1, 1, 1, 1}));
    }
}

TEST(Workers, see_each_others_writes_after_a_barrier) {
    Workers workers(3);
    std::vector<int> values(3);
    std::atomic<int> wrong{0};
    workers.run([&](int worker) {
        for (int round = 1; round < 300; ++round) {
            values[std::size_t(worker)] = round;
            workers.barrier().arrive_and_wait();
            if (values[std::size_t(worker + 1) % 3] != round) ++wrong;
            workers.barrier().arrive_and_wait();
        }
    });
    EXPECT_EQ(wrong, 0);
}

TEST(Workers, rethrow_the_first_error_and_live_on) {
    Workers workers(4);
    const auto failing = [&](int worker) {
        workers.barrier().arrive_and_wait();
        workers.guarded([&] {
            if (worker == 2) throw std::runtime_error("kernel");
        });
        workers.barrier().arrive_and_wait();
        workers.guarded([] { ADD_FAILURE() << "work goes on after a failure"; });
    };
    for (int round = 0; round < 50; ++round)
        EXPECT_THROW(workers.run(failing), std::runtime_error);
    EXPECT_NO_THROW(workers.run([](int) {}));
}

TEST(Workers, keep_an_error_thrown_before_anything_else) {
    Workers workers(2);
    EXPECT_THROW(workers.run([](int) { throw std::logic_error("at once"); }), std::logic_error);
}

}    // namespace
}    // namespace slipway
