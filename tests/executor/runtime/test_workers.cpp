#include "executor/runtime/workers.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "executor/runtime/cpus.h"

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

// Goal: one worker does it, when all have come and before any goes on.
TEST(Workers, do_what_is_left_to_the_last_at_a_barrier_once) {
    for (const int count : {1, 2, 4}) {
        Workers workers(count);
        std::vector<int> written(static_cast<std::size_t>(count), 0);
        int sum = 0;
        std::atomic<int> wrong = 0;
        workers.run([&](int worker) {
            for (int round = 1; round <= 200; ++round) {
                written[std::size_t(worker)] = round;
                workers.barrier().arrive_and_wait([&] {
                    sum = 0;
                    for (const int value : written)
                        sum += value;
                });
                if (sum != round * count) ++wrong;
                workers.barrier().arrive_and_wait();
            }
        });
        EXPECT_EQ(wrong, 0) << count;
    }
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

/// A filter as a confined executor has it: sched_setaffinity for the calling thread alone.
void refuse_affinity_of_others() {
    constexpr auto argument = std::uint32_t(offsetof(seccomp_data, args));
    std::array<sock_filter, 6> code{
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setaffinity, 0, 2),
        sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, argument),
        sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
    const sock_fprog program{code.size(), code.data()};
    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0), 0);
}

TEST(Workers, are_kept_on_their_cpus_where_a_thread_may_only_move_itself) {
    const int cpu = order_of_use(usable_cpus()).front();
    std::vector<std::optional<int>> kept;
    std::vector<int> found(3, -1);
    // A filter is for good: on a thread of its own, whose threads inherit it.
    std::thread([&] {
        refuse_affinity_of_others();
        Workers workers(3, {cpu, cpu});
        kept = workers.cpus();
        workers.run([&](int worker) { found[std::size_t(worker)] = sched_getcpu(); });
    }).join();
    EXPECT_EQ(kept, (std::vector<std::optional<int>>{cpu, cpu, std::nullopt}));
    EXPECT_EQ(found[0], cpu);
    EXPECT_EQ(found[1], cpu);
}

}    // namespace
}    // namespace slipway
