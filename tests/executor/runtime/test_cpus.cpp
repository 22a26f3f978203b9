// Goal: a worker has a CPU of its own or none, whoever else asks, and never one that its process
// may not use. Method: scopes of this test's own, so that nothing else on the machine is in the
// way.
#include "executor/runtime/cpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "executor/runtime/run.h"
#include "executor/runtime/workers.h"
#include "tests/support/temp_folder.h"

namespace slipway {
namespace {

/// A folder like that of the machine's CPUs.
struct Scope {
    Scope() {
        std::set<int> cpus{0, 4, 5, 6};
        for (const Cpu& cpu : usable_cpus())
            cpus.insert(cpu.number);
        for (const int cpu : cpus)
            folder.write(fmt::format("cpu{}", cpu), "");
    }
    std::string path() const { return folder.path().string(); }

    TempFolder folder;
};

std::vector<int> mask_of_this_thread() {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

TEST(Cpus, physical_cores_are_used_before_their_second_threads) {
    EXPECT_EQ(order_of_use({{0, 0}, {1, 0}, {2, 2}, {3, 2}}), (std::vector<int>{0, 2, 1, 3}));
    EXPECT_EQ(order_of_use({{3, 1}, {2, 0}, {1, 1}, {0, 0}}), (std::vector<int>{0, 1, 2, 3}));
    EXPECT_EQ(order_of_use({{5, 4}, {7, 6}}), (std::vector<int>{5, 7}));
    EXPECT_EQ(order_of_use({}), std::vector<int>());
}

TEST(Cpus, usable_are_those_of_the_mask) {
    std::vector<int> numbers;
    for (const Cpu& cpu : usable_cpus()) {
        numbers.push_back(cpu.number);
        EXPECT_LE(cpu.core, cpu.number);
    }
    EXPECT_EQ(numbers, mask_of_this_thread());
}

TEST(CpuClaims, go_to_one_holder_and_come_back_when_it_is_gone) {
    const Scope mine, other;
    const std::string scope = mine.path();
    {
        const auto first = claim_cpus(scope, {4, 5, 6}, 2);
        ASSERT_EQ(first.size(), 2U);
        EXPECT_EQ(first[0].cpu(), 4);
        EXPECT_EQ(first[1].cpu(), 5);
        const auto second = claim_cpus(scope, {4, 5, 6}, 2);
        ASSERT_EQ(second.size(), 1U);
        EXPECT_EQ(second[0].cpu(), 6);
        EXPECT_TRUE(claim_cpus(scope, {4, 5, 6}, 2).empty());
        EXPECT_EQ(claim_cpus(other.path(), {4}, 1).size(), 1U);
    }
    EXPECT_EQ(claim_cpus(scope, {4, 5, 6}, 3).size(), 3U);
}

TEST(CpuClaims, of_a_killed_process_are_free_again) {
    const Scope mine;
    const std::string scope = mine.path();
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const auto claim = CpuClaim::take(scope, 0);
        const char word = claim ? 'y' : 'n';
        if (write(ready[1], &word, 1) == 1) pause();
        _exit(0);
    }
    char word = 0;
    ASSERT_EQ(read(ready[0], &word, 1), 1);
    EXPECT_EQ(word, 'y');
    EXPECT_FALSE(CpuClaim::take(scope, 0));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    EXPECT_TRUE(CpuClaim::take(scope, 0));
    close(ready[0]);
    close(ready[1]);
}

TEST(CpuClaims, without_a_scope_or_in_one_without_the_cpu_there_are_none) {
    EXPECT_TRUE(claim_cpus("", {0, 1}, 2).empty());
    const TempFolder empty;
    EXPECT_TRUE(claim_cpus(empty.path(), {0, 1}, 2).empty());
}

TEST(CpuClaims, of_this_machine_are_on_the_cpus_that_it_has) {
    for (const Cpu& cpu : usable_cpus())
        EXPECT_TRUE(
            std::filesystem::exists(fmt::format("{}/cpu{}", machine_cpu_scope, cpu.number)));
}

TEST(PinnedWorkers, run_on_their_cpu_alone_and_the_others_anywhere) {
    const std::vector<int> mask = mask_of_this_thread();
    Workers workers(3, {mask.front()});
    std::vector<std::vector<int>> seen(3);
    workers.run([&](int worker) { seen[std::size_t(worker)] = mask_of_this_thread(); });
    EXPECT_EQ(seen[0], std::vector<int>{mask.front()});
    EXPECT_EQ(seen[1], mask);
    EXPECT_EQ(seen[2], mask);
    EXPECT_EQ(workers.cpus(), (std::vector<std::optional<int>>{mask.front(), {}, {}}));
    EXPECT_EQ(mask_of_this_thread(), mask) << "the caller is free";
}

TEST(PinnedWorkers, go_on_where_they_like_when_they_cannot_be_pinned) {
    Workers workers(1, {CPU_SETSIZE - 1});    // no machine of ours has it
    int runs = 0;
    workers.run([&](int) { ++runs; });
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(workers.cpus(), std::vector<std::optional<int>>{std::nullopt});
}

TEST(PinnedWorkers, of_two_runtimes_share_no_cpu) {
    const Scope mine;
    const std::string scope = mine.path();
    const Runtime first({8, 1}, scope), second({8, 1}, scope), third({8, 8}, scope);
    std::multiset<int> cpus;
    for (const Runtime* runtime : {&first, &second, &third})
        for (const std::optional<int>& cpu : runtime->worker_cpus())
            if (cpu) cpus.insert(*cpu);
    const std::set<int> different(cpus.begin(), cpus.end());
    EXPECT_EQ(cpus.size(), different.size());
    EXPECT_EQ(cpus.size(), std::min<std::size_t>(10, mask_of_this_thread().size()));
    EXPECT_EQ(Runtime({8, 2}).worker_cpus(), (std::vector<std::optional<int>>(2)));
}

}    // namespace
}    // namespace slipway
