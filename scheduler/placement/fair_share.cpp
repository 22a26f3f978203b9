// Fair queueing over what was really used, not over what was asked for: a project that has used
// half of another one's core-seconds per weight goes first until it has caught up. Usage decays
// (the store halves it once a day), so that the past is forgiven. Within one pass nothing is known
// of how long a job will run; each job ahead counts as a turn, which has projects that are level
// take turns in proportion to their weights. Tried: the usage alone, which gives all free cores of
// a pass to one project; tags given at submission (start-time fair queueing), which share out jobs
// and not core-seconds, and keep a weight that has been changed since.
#include "scheduler/placement/fair_share.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace slipway {

namespace {

struct Ordered {
    WaitingJob job;
    double used = 0;    // by its project, per weight, when it is its turn
};

bool goes_before(const Ordered& a, const Ordered& b) {
    return std::tie(a.job.class_rank, a.used, a.job.queued_at, a.job.job_id) <
           std::tie(b.job.class_rank, b.used, b.job.queued_at, b.job.job_id);
}

using Shape = std::tuple<std::string, std::string, int, int, std::int64_t>;

Shape shape_of(const WaitingJob& job) {
    return {job.group, job.pool, job.cores, job.core_id.value_or(0), job.memory_bytes.value_or(0)};
}

/// In core-seconds.
double earned(const WaitingJob& job, std::size_t cores, Instant now) {
    if (job.cores == 1 || now <= job.queued_at) return 0;
    const auto waited = std::min<Instant::duration>(now - job.queued_at, earning_max);
    return earned_while_waiting * double(cores) * std::chrono::duration<double>(waited).count();
}

/// Of a project, class and pool who is older goes first, whatever the younger one has earned: the
/// older one goes with it.
void keep_age_order(std::vector<Ordered>& by_age) {
    std::map<std::tuple<std::string_view, int, std::string_view>, double> least;
    for (auto each = by_age.rbegin(); each != by_age.rend(); ++each) {
        const auto [known, is_new] = least.try_emplace(
            {each->job.project, each->job.class_rank, each->job.pool}, each->used);
        if (!is_new) each->used = known->second = std::min(known->second, each->used);
    }
}

/// What a project has used, and its jobs that are ahead.
struct Account {
    double usage_core_s = 0;
    double weight = 1;
    std::map<std::string, double, std::less<>> turns_core_s = {};    // by pool
    std::map<Shape, std::size_t> ahead = {};

    /// Of the jobs ahead that may have the same cores as the job.
    double turns_before(const WaitingJob& job) const {
        double sum = 0;
        for (const auto& [pool, turns] : turns_core_s)
            if (job.pool.empty() || pool.empty() || pool == job.pool) sum += turns;
        return sum;
    }
};

/// Takes one of the places that the job's group has left; a job without a group needs none.
bool takes_place(const WaitingJob& job, GroupCounts& taken) {
    if (job.group.empty() || !job.group_limit) return true;
    int& count = taken[{job.project, job.group}];
    if (count >= *job.group_limit) return false;
    ++count;
    return true;
}

}    // namespace

GroupCounts count_groups(const std::vector<RunningJob>& running) {
    GroupCounts counts;
    for (const RunningJob& job : running)
        if (!job.group.empty()) ++counts[{job.project, job.group}];
    return counts;
}

CoreCounts::CoreCounts(const std::vector<CoreSlot>& cores) : all(cores.size()) {
    for (const CoreSlot& core : cores)
        ++of_pools[core.pool];
}

std::size_t CoreCounts::open_to(const WaitingJob& job) const {
    const auto found = of_pools.find(job.pool);
    return found == of_pools.end() ? all : found->second;
}

std::vector<WaitingJob> in_fair_order(std::vector<WaitingJob> queue,
                                      const std::vector<ProjectShare>& projects,
                                      const CoreCounts& cores, const GroupCounts& running,
                                      Instant now) {
    std::map<std::string, Account> accounts;
    for (const ProjectShare& project : projects)
        accounts[project.name] = {.usage_core_s = project.usage_core_s, .weight = project.weight};
    std::ranges::sort(queue, is_ahead);
    GroupCounts taken = running;
    std::vector<Ordered> ordered;
    for (WaitingJob& job : queue) {
        Account& account = accounts[job.project];
        const double used = (account.usage_core_s + account.turns_before(job) -
                             earned(job, cores.open_to(job), now)) /
                            account.weight;
        // A job that cannot start gives its turn away.
        const bool ready = job.due && job.dataset_state == "ready";
        if (ready && account.ahead[shape_of(job)]++ < cores.all && takes_place(job, taken))
            account.turns_core_s[job.pool] += turn_s * job.cores;
        ordered.push_back({.job = std::move(job), .used = used});
    }
    keep_age_order(ordered);
    std::ranges::sort(ordered, goes_before);
    for (std::size_t i = 0; i < ordered.size(); ++i)
        queue[i] = std::move(ordered[i].job);
    return queue;
}

}    // namespace slipway
