// Goal: a job of several cores starts although another project, which has used less, has some small
// job on each of its hosts all the time.
// Method: passes over simulated time. Two hosts; each minute a job of one core comes to the modest
// project and runs for ten, so that it never has more than its share and no host is ever empty.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "scheduler/placement/fair_share.h"
#include "scheduler/placement/placement.h"

namespace slipway {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class SmallJobs {
public:
    explicit SmallJobs(double used_core_s) {
        for (const char* host : {"a", "b"})
            for (int core = 1; core <= 8; ++core)
                world_.cores.push_back({.host = host, .core = core, .held_by = {}});
        world_.projects = {{.name = "modest"}, {.name = "large", .usage_core_s = used_core_s}};
    }

    void submit(std::string id, std::string project, int cores) {
        world_.queue.push_back({.job_id = std::move(id),
                                .queued_at = world_.now,
                                .cores = cores,
                                .core_id = {},
                                .due_at = {},
                                .project = std::move(project)});
    }

    /// What one minute starts.
    std::vector<std::string> pass_a_minute() {
        world_.now += minutes{1};
        end_jobs();
        submit(fmt::format("small_{:05}", small_++), "modest", 1);
        std::vector<std::string> started;
        for (const PlacedJob& placed : make_plan(world_).start) {
            started.push_back(placed.job_id);
            hold(placed);
        }
        return started;
    }

private:
    void hold(const PlacedJob& placed) {
        for (CoreSlot& core : world_.cores)
            if ((core.host == placed.host || !placed.other_hosts.empty()) &&
                std::ranges::count(placed.cores, core.core) > 0)
                core.held_by = placed.job_id;
        std::erase_if(world_.queue,
                      [&](const WaitingJob& job) { return job.job_id == placed.job_id; });
        world_.running.push_back({.job_id = placed.job_id, .started_at = world_.now});
    }

    void end_jobs() {
        for (RunningJob& running : world_.running) {
            if (world_.now - running.started_at < minutes{10}) continue;
            for (CoreSlot& core : world_.cores)
                if (core.held_by == running.job_id) core.held_by.clear();
        }
        std::erase_if(world_.running, [&](const RunningJob& running) {
            return world_.now - running.started_at >= minutes{10};
        });
    }

    Snapshot world_{.queue = {}, .cores = {}};
    int small_ = 0;
};

/// After how many minutes the job starts; none: not within a day.
std::optional<int> starts_after(int cores, double used_core_s) {
    SmallJobs world(used_core_s);
    for (int minute = 0; minute < 30; ++minute)
        world.pass_a_minute();
    world.submit("wanted", "large", cores);
    for (int minute = 1; minute <= 24 * 60; ++minute)
        if (std::ranges::count(world.pass_a_minute(), "wanted") > 0) return minute;
    return std::nullopt;
}

TEST(WaitingSlices, a_slice_starts_once_it_has_earned_what_its_project_has_used_too_much) {
    // 48,000 core-seconds are earned on half of 16 cores in 100 minutes; then small jobs end.
    const auto minutes_waited = starts_after(16, 48'000);
    ASSERT_TRUE(minutes_waited) << "small jobs have it wait for ever";
    EXPECT_GE(*minutes_waited, 95);
    EXPECT_LE(*minutes_waited, 115);
}

TEST(WaitingSlices, a_project_that_is_level_waits_for_running_jobs_alone) {
    const auto minutes_waited = starts_after(16, 0);
    ASSERT_TRUE(minutes_waited);
    EXPECT_LE(*minutes_waited, 15);
}

WaitingJob job_of(const char* project, const char* id, int cores, seconds queued_at) {
    return {.job_id = id,
            .queued_at = Instant{} + queued_at,
            .cores = cores,
            .core_id = {},
            .due_at = {},
            .project = project};
}

std::vector<std::string> order(std::vector<WaitingJob> queue, double used_core_s, seconds now) {
    std::vector<std::string> ids;
    for (const WaitingJob& job :
         in_fair_order(std::move(queue), {{.name = "large", .usage_core_s = used_core_s}},
                       CoreCounts(16), {}, Instant{} + now))
        ids.push_back(job.job_id);
    return ids;
}

TEST(WaitingSlices, who_is_older_in_a_project_goes_with_the_job_that_has_earned) {
    const std::vector<WaitingJob> queue{
        job_of("large", "old", 1, seconds{0}), job_of("large", "slice", 16, seconds{1}),
        job_of("large", "young", 1, seconds{2}), job_of("modest", "other", 1, seconds{3})};
    using Ids = std::vector<std::string>;
    EXPECT_EQ(order(queue, 4'000, seconds{100}), (Ids{"other", "old", "slice", "young"}));
    EXPECT_EQ(order(queue, 4'000, seconds{1000}), (Ids{"old", "slice", "other", "young"}));
}

TEST(WaitingSlices, a_job_of_one_core_earns_nothing_and_no_job_for_longer_than_a_day) {
    using Ids = std::vector<std::string>;
    const auto far = std::chrono::days{30};
    EXPECT_EQ(
        order({job_of("large", "one", 1, seconds{0}), job_of("modest", "other", 1, far)}, 1, far),
        (Ids{"other", "one"}));
    const double a_day = 16 * 86'400 * earned_while_waiting;
    const std::vector<WaitingJob> queue{job_of("large", "slice", 16, seconds{0}),
                                        job_of("modest", "other", 1, far)};
    EXPECT_EQ(order(queue, a_day + 1, far), (Ids{"other", "slice"}));
    EXPECT_EQ(order(queue, a_day - 1, far), (Ids{"slice", "other"}));
}

}    // namespace
}    // namespace slipway
