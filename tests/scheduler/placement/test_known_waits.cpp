// Goal: what a pass remembers of jobs that ask for the same changes nothing but its cost.
// Method: on hosts without a limit of memory, what a job asks for of it decides nothing and makes
// each job different from all others; the plan must be the same. 1,000 worlds from seeds, with
// slices, limits of time and jobs that give way. A failure names its seed.
#include "scheduler/placement/known_waits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace slipway {
namespace {

constexpr std::uint64_t worlds = 1'000;

class RandomWorld {
public:
    explicit RandomWorld(std::uint64_t seed) : random_(seed) {}

    Snapshot snapshot() {
        const int hosts = 2 + below(5);
        Snapshot world{.queue = {}, .cores = {}, .now = Instant{} + std::chrono::hours{1}};
        for (int host = 0; host < hosts; ++host)
            add_host(fmt::format("host-{}", host), world);
        const int jobs = 5 + below(30);
        for (int job = 0; job < jobs; ++job)
            world.queue.push_back(waiting(job, hosts));
        return world;
    }

private:
    int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

    std::optional<std::chrono::seconds> limit() {
        if (below(3) == 0) return std::nullopt;
        return std::chrono::seconds{60 * (1 + below(10))};
    }

    /// Some cores are free, some held by one of two jobs.
    void add_host(const std::string& name, Snapshot& world) {
        const bool drained = below(12) == 0;
        for (int core = 1; core <= 8; ++core) {
            const int holder = below(4);
            CoreSlot slot{.host = name,
                          .core = core,
                          .host_drained = drained,
                          .alive = below(40) != 0,
                          .held_by = {}};
            if (holder < 2) slot.held_by = fmt::format("running_{}_{}", name, holder);
            world.cores.push_back(std::move(slot));
        }
        for (int holder = 0; holder < 2; ++holder) {
            RunningJob job{.job_id = fmt::format("running_{}_{}", name, holder),
                           .class_rank = 1 + below(4),
                           .started_at = Instant{} + std::chrono::minutes{below(60)},
                           .preemptible = below(2) == 0,
                           .ending = below(6) == 0};
            if (const auto runs = limit()) job.ends_by = world.now + *runs;
            world.running.push_back(std::move(job));
        }
    }

    WaitingJob waiting(int number, int hosts) {
        static constexpr int sizes[] = {1, 1, 1, 2, 8, 8, 16, 24};
        WaitingJob job{.job_id = fmt::format("job_{:03}", number),
                       .class_rank = 1 + below(3),
                       .queued_at = Instant{} + std::chrono::seconds{number},
                       .cores = std::min(sizes[below(8)], 8 * hosts),
                       .core_id = {},
                       .due_at = {},
                       .project = fmt::format("project_{}", below(2)),
                       .runs_at_most = limit()};
        if (job.cores == 1 && below(3) == 0) job.core_id = 1 + below(9);
        return job;
    }

    std::mt19937_64 random_;
};

TEST(KnownWaits, a_plan_is_that_of_looking_at_the_machine_for_each_job) {
    std::size_t known = 0;
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const Snapshot alike = RandomWorld(seed).snapshot();
        Snapshot different = alike;
        for (std::size_t job = 0; job < different.queue.size(); ++job)
            different.queue[job].memory_bytes = std::int64_t(job + 1);
        const Plan plan = make_plan(alike), looked_at_each = make_plan(different);
        ASSERT_EQ(plan.start, looked_at_each.start);
        ASSERT_EQ(plan.preempt, looked_at_each.preempt);
        ASSERT_EQ(plan.waiting, looked_at_each.waiting);
        known += plan.waiting.size();
    }
    EXPECT_GT(known, worlds) << "hardly any job waits: the worlds show nothing";
}

TEST(KnownWaits, a_reason_is_that_of_the_job_that_asks_until_the_machine_changes) {
    const Instant now = Instant{} + std::chrono::hours{1};
    KnownWaits known(now);
    WaitingJob first{.job_id = "first", .cores = 8, .core_id = {}, .due_at = {}};
    WaitingJob second = first;
    second.job_id = "second";
    known.put(first, {.job_id = "first", .code = "behind", .message = "m", .cores = {}});
    ASSERT_TRUE(known.find(second));
    EXPECT_EQ(known.find(second)->job_id, "second");
    second.class_rank = 1;
    EXPECT_FALSE(known.find(second)) << "others may give way to it";
    known.machine_changed();
    EXPECT_FALSE(known.find(first));
}

TEST(KnownWaits, a_shorter_job_may_find_lent_cores_where_a_longer_one_found_none) {
    using std::chrono::minutes;
    const Instant now = Instant{} + std::chrono::hours{1};
    KnownWaits known(now);
    WaitingJob job{.job_id = "a", .cores = 8, .core_id = {}, .due_at = {}};
    job.runs_at_most = minutes{10};
    known.found_no_cores(job);
    EXPECT_TRUE(known.cannot_start(job));
    job.runs_at_most = minutes{9};
    EXPECT_FALSE(known.cannot_start(job));
    job.runs_at_most.reset();
    EXPECT_TRUE(known.cannot_start(job)) << "without a limit it runs longer than all";
    known.add_deadline(now + minutes{15});
    known.put(job, {.job_id = "a", .code = "behind", .message = "m", .cores = {}});
    EXPECT_TRUE(known.find(job));
    job.runs_at_most = minutes{5};
    EXPECT_FALSE(known.find(job)) << "it would keep the deadline";
}

}    // namespace
}    // namespace slipway
