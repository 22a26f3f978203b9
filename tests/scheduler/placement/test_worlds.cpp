// Goal: what must hold of every plan, in 4,000 worlds made from seeds: hosts of one to eight cores
// that are lost, drained and come back; jobs of every shape and class that come, run and end.
// Method: a simulation of the service's ticks around the planner alone. A failure names its seed.
#include "scheduler/placement/placement.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "scheduler/placement/fair_share.h"

namespace slipway {
namespace {

struct SimulatedJob {
    WaitingJob asked;    ///< all of one age: ids are given by age
    int runs_for_ticks = 1;
};

std::vector<std::string> hosts_of(const PlacedJob& placed) {
    std::vector<std::string> hosts{placed.host};
    hosts.insert(hosts.end(), placed.other_hosts.begin(), placed.other_hosts.end());
    return hosts;
}

class World {
public:
    explicit World(std::uint64_t seed) : random_(seed) {
        const int hosts = 1 + below(3);
        for (int host = 0; host < hosts; ++host) {
            const int cores = below(3) == 0 ? 1 + below(8) : 8;
            const std::int64_t memory_bytes = below(2) == 0 ? 0 : 8 * (1 + below(3));
            for (int core = 1; core <= cores; ++core)
                cores_.push_back({.host = fmt::format("host_{}", host),
                                  .core = core,
                                  .held_by = {},
                                  .host_memory_bytes = memory_bytes});
        }
        for (int project = 0; project < 3; ++project)
            projects_.push_back({.name = fmt::format("project_{}", project),
                                 .weight = 1.0 + below(4),
                                 .usage_core_s = double(below(1000))});
    }

    /// Jobs of any class, or all of one.
    void arrive(int count, std::optional<int> queue_class = {}) {
        for (int i = 0; i < count; ++i) {
            queue_.push_back(random_job());
            if (queue_class) queue_.back().asked.class_rank = *queue_class;
        }
    }

    /// An operator and the network: cores are drained and undrained, hosts lost and found.
    void disturb() {
        for (CoreSlot& core : cores_)
            if (below(20) == 0) core.drained = !core.drained;
        if (below(10) == 0) {
            const std::string host = cores_[std::size_t(below(int(cores_.size())))].host;
            const bool alive = below(2) == 0;
            for (CoreSlot& core : cores_)
                if (core.host == host) core.alive = alive;
        }
        if (below(10) == 0) {
            const std::string host = cores_[std::size_t(below(int(cores_.size())))].host;
            const bool drained = below(2) == 0;
            for (CoreSlot& core : cores_)
                if (core.host == host) core.host_drained = drained;
        }
        for (SimulatedJob& job : queue_) {
            if (below(8) == 0) job.asked.due = true;
            if (below(8) == 0) job.asked.dataset_state = "ready";
        }
    }

    void settle() {
        for (CoreSlot& core : cores_) {
            core.drained = false;
            core.host_drained = false;
            core.alive = true;
        }
        for (SimulatedJob& job : queue_) {
            job.asked.due = true;
            job.asked.dataset_state = "ready";
        }
    }

    /// In the order of the plan.
    std::vector<WaitingJob> queue() const {
        std::vector<WaitingJob> jobs;
        for (const SimulatedJob& job : queue_)
            jobs.push_back(job.asked);
        return in_fair_order(std::move(jobs), projects_, CoreCounts(cores_.size()),
                             count_groups(running_));
    }
    Snapshot snapshot() const { return snapshot(queue()); }
    Snapshot snapshot(std::vector<WaitingJob> queue) const {
        return {
            .queue = std::move(queue), .cores = cores_, .running = running_, .projects = projects_};
    }
    const std::vector<CoreSlot>& cores() const { return cores_; }
    /// How many jobs of its group run.
    int running_of(const WaitingJob& job) const {
        const GroupCounts counts = count_groups(running_);
        const auto found = counts.find({job.project, job.group});
        return found == counts.end() ? 0 : found->second;
    }

    void start(const Plan& plan) {
        for (const PlacedJob& placed : plan.start) {
            const auto job = std::ranges::find(queue_, placed.job_id, &id_of);
            ends_in_ticks_[placed.job_id] = job->runs_for_ticks;
            project_of_[placed.job_id] = job->asked.project.back() - '0';
            running_.push_back({.job_id = placed.job_id,
                                .project = job->asked.project,
                                .class_rank = job->asked.class_rank,
                                .cores = job->asked.cores,
                                .group = job->asked.group});
            for (CoreSlot& core : cores_)
                if (std::ranges::count(hosts_of(placed), core.host) > 0 &&
                    std::ranges::count(placed.cores, core.core) > 0) {
                    core.held_by = placed.job_id;
                    core.held_memory_bytes = job->asked.memory_bytes;
                }
            queue_.erase(job);
        }
    }

    /// What ran counts: a tick is a minute.
    void pass_a_tick() {
        for (const CoreSlot& core : cores_)
            if (const auto project = project_of_.find(core.held_by); project != project_of_.end())
                projects_[std::size_t(project->second)].usage_core_s += 60;
        for (auto running = ends_in_ticks_.begin(); running != ends_in_ticks_.end();) {
            if (--running->second > 0) {
                ++running;
                continue;
            }
            for (CoreSlot& core : cores_)
                if (core.held_by == running->first) {
                    core.held_by.clear();
                    core.held_memory_bytes.reset();
                }
            std::erase_if(running_,
                          [&](const RunningJob& job) { return job.job_id == running->first; });
            running = ends_in_ticks_.erase(running);
        }
    }

    int below(int bound) { return int(random_() % std::uint64_t(bound)); }
    bool waits(const std::string& id) const {
        return std::ranges::find(queue_, id, &id_of) != queue_.end();
    }
    static std::string_view id_of(const SimulatedJob& job) { return job.asked.job_id; }

private:
    SimulatedJob random_job() {
        SimulatedJob job;
        job.asked.job_id = fmt::format("job_{:05}", ++made_);
        const int kind = below(4);
        if (kind == 0) job.asked.core_id = 1 + below(8);
        if (kind == 1) job.asked.cores = 8;
        if (kind == 2) job.asked.cores = 1 + below(8);
        if (kind == 3 && below(2) == 0) job.asked.cores = 8 * (2 + below(2));    // a slice
        if (below(6) == 0) {
            job.asked.due = false;
            job.asked.due_at = "2030-01-01T00:00:00Z";
        }
        if (below(8) == 0) job.asked.dataset_state = "checking";
        if (below(4) == 0) job.asked.memory_bytes = 1 + below(26);    // some fit on no host
        job.asked.class_rank = below(5);
        job.asked.project = fmt::format("project_{}", below(3));
        if (below(3) == 0) {
            const int group = below(2);
            job.asked.group = fmt::format("group_{}", group);
            job.asked.group_limit = 1 + group * 2;
        }
        job.runs_for_ticks = 1 + below(5);
        return job;
    }

    std::mt19937_64 random_;
    std::vector<CoreSlot> cores_;
    std::vector<SimulatedJob> queue_;    // as they came
    std::vector<ProjectShare> projects_;
    std::vector<RunningJob> running_;
    std::map<std::string, int> ends_in_ticks_;
    std::map<std::string, int> project_of_;
    int made_ = 0;
};

using CoreName = std::pair<std::string, int>;

std::map<CoreName, const CoreSlot*> by_name(const std::vector<CoreSlot>& cores) {
    std::map<CoreName, const CoreSlot*> named;
    for (const CoreSlot& core : cores)
        named[{core.host, core.core}] = &core;
    return named;
}

const WaitingJob* find(const std::vector<WaitingJob>& queue, const std::string& id) {
    const auto found = std::ranges::find(queue, id, &WaitingJob::job_id);
    return found == queue.end() ? nullptr : &*found;
}

/// No core twice, only usable and free ones, of one host, as many and the one that was asked for.
void expect_sound(const World& world, const Plan& plan) {
    const std::vector<WaitingJob> queue = world.queue();
    const auto cores = by_name(world.cores());
    std::set<CoreName> taken;
    for (const PlacedJob& placed : plan.start) {
        const WaitingJob* job = find(queue, placed.job_id);
        ASSERT_NE(job, nullptr) << placed.job_id << " is not in the queue";
        EXPECT_TRUE(job->due && job->dataset_state == "ready") << placed.job_id;
        const std::vector<std::string> hosts = hosts_of(placed);
        EXPECT_EQ(int(placed.cores.size() * hosts.size()), job->cores);
        if (hosts.size() > 1) EXPECT_EQ(placed.cores.size(), 8U) << "of each host all cores";
        if (job->core_id) EXPECT_EQ(placed.cores, std::vector<int>{*job->core_id});
        EXPECT_TRUE(std::ranges::is_sorted(placed.cores));
        for (const std::string& host : hosts)
            for (const int number : placed.cores) {
                const auto core = cores.find({host, number});
                ASSERT_NE(core, cores.end());
                EXPECT_TRUE(core->second->alive && !core->second->drained &&
                            !core->second->host_drained)
                    << placed.job_id;
                EXPECT_EQ(core->second->held_by, "") << placed.job_id;
                EXPECT_TRUE(taken.insert(core->first).second)
                    << host << " core " << number << " is given twice";
            }
    }
}

std::int64_t limit_on(const World& world, const std::string& host, int cores,
                      std::optional<std::int64_t> asked) {
    std::int64_t size = 0, memory_bytes = 0;
    for (const CoreSlot& core : world.cores()) {
        if (core.host != host) continue;
        ++size;
        memory_bytes = core.host_memory_bytes;
    }
    return std::min(asked.value_or(memory_bytes / size * cores), memory_bytes);
}

/// The limits of a host's jobs are together no more than it has.
void expect_memory_kept(const World& world, const Plan& plan) {
    struct Held {
        int cores = 0;
        std::optional<std::int64_t> asked;
    };
    std::map<std::string, std::map<std::string, Held>> jobs;
    std::map<std::string, std::int64_t> memory_bytes;
    for (const CoreSlot& core : world.cores()) {
        memory_bytes[core.host] = core.host_memory_bytes;
        if (core.held_by.empty()) continue;
        Held& held = jobs[core.host][core.held_by];
        ++held.cores;
        held.asked = core.held_memory_bytes;
    }
    const std::vector<WaitingJob> queue = world.queue();
    for (const PlacedJob& placed : plan.start) {
        const WaitingJob& job = *find(queue, placed.job_id);
        const std::int64_t counted = job.memory_bytes.value_or(0);
        for (const std::string& host : hosts_of(placed)) {
            jobs[host][placed.job_id] = {int(placed.cores.size()), job.memory_bytes};
            if (memory_bytes[host] > 0)
                EXPECT_LE(counted - counted / 5, memory_bytes[host]) << placed.job_id;
        }
    }
    for (const auto& [host, held] : jobs) {
        std::int64_t sum = 0;
        for (const auto& [id, job] : held)
            sum += limit_on(world, host, job.cores, job.asked);
        if (memory_bytes[host] > 0) EXPECT_LE(sum, memory_bytes[host]) << host;
    }
}

/// Each job is placed or has one reason; both lists are in the order of the queue.
void expect_complete(const World& world, const Plan& plan) {
    const std::vector<WaitingJob> queue = world.queue();
    auto placed = plan.start.begin();
    auto waiting = plan.waiting.begin();
    for (const WaitingJob& job : queue) {
        if (placed != plan.start.end() && placed->job_id == job.job_id)
            ++placed;
        else if (waiting != plan.waiting.end() && waiting->job_id == job.job_id)
            ++waiting;
        else
            ADD_FAILURE() << job.job_id << " is out of order, twice or nowhere";
    }
    EXPECT_EQ(placed, plan.start.end());
    EXPECT_EQ(waiting, plan.waiting.end());
}

/// What a reason says of cores and jobs is so.
void expect_true_reasons(const World& world, const Plan& plan) {
    const std::vector<WaitingJob> queue = world.queue();
    for (const WaitReason& reason : plan.waiting) {
        EXPECT_FALSE(reason.message.empty()) << reason.job_id;
        const WaitingJob& job = *find(queue, reason.job_id);
        if (!job.due) {
            EXPECT_EQ(reason.code, "start_after");
        } else if (job.dataset_state != "ready") {
            EXPECT_EQ(reason.code, "waiting_for_dataset");
        } else if (reason.code == "behind") {
            const WaitingJob* ahead = find(queue, reason.blocking_job);
            ASSERT_NE(ahead, nullptr) << reason.job_id;
            EXPECT_LT(ahead - queue.data(), &job - queue.data()) << reason.job_id;
        } else if (reason.code == "core_busy") {
            EXPECT_FALSE(reason.blocking_job.empty()) << reason.job_id;
        } else if (reason.code == "core_drained") {
            EXPECT_TRUE(std::ranges::any_of(world.cores(), [&](const CoreSlot& core) {
                return core.drained && std::ranges::count(reason.cores, core.core) > 0;
            })) << reason.job_id;
        } else if (reason.code == "group_limit") {
            EXPECT_TRUE(job.group_limit) << reason.job_id;
        } else if (reason.code == "host_drained") {
            EXPECT_TRUE(std::ranges::any_of(world.cores(), &CoreSlot::host_drained))
                << reason.job_id;
        }
    }
}

/// Of each shape as many as there are cores, and of a group no more than its limit leaves, as the
/// store hands them in (decision 0017).
std::vector<WaitingJob> heads_of_shapes(const World& world) {
    std::map<std::tuple<std::string, std::string, int, int, std::int64_t>, int> seen;
    std::vector<WaitingJob> heads;
    for (const WaitingJob& job : world.queue()) {
        if (!job.due || job.dataset_state != "ready") continue;
        int places = int(world.cores().size());
        if (job.group_limit) places = std::min(places, *job.group_limit - world.running_of(job));
        if (seen[{job.project, job.group, job.cores, job.core_id.value_or(0),
                  job.memory_bytes.value_or(0)}]++ < places)
            heads.push_back(job);
    }
    return heads;
}

/// No group has more running jobs than its limit, which never changes here.
void expect_groups_kept(const World& world, const Plan& plan) {
    const std::vector<WaitingJob> queue = world.queue();
    GroupCounts started;
    for (const PlacedJob& placed : plan.start) {
        const WaitingJob& job = *find(queue, placed.job_id);
        if (!job.group_limit) continue;
        const int jobs = world.running_of(job) + ++started[{job.project, job.group}];
        EXPECT_LE(jobs, *job.group_limit) << job.job_id;
    }
}

/// A pass that sees the heads alone places the same jobs at the same places.
void expect_heads_suffice(const World& world, const Plan& plan) {
    const auto heads = heads_of_shapes(world);
    EXPECT_EQ(make_plan(world.snapshot(heads)).start, plan.start);
}

/// Explain sees the heads and the job it is asked about: it gives the reason of the whole plan.
void expect_explain_agrees(const World& world, const Plan& plan) {
    const std::vector<WaitingJob> queue = world.queue();
    const auto heads = heads_of_shapes(world);
    for (const WaitReason& reason : plan.waiting) {
        const auto found = explain(world.snapshot(heads), *find(queue, reason.job_id));
        ASSERT_TRUE(found) << reason.job_id << " is said to start";
        EXPECT_EQ(found->code, reason.code) << reason.job_id;
        EXPECT_EQ(found->message, reason.message) << reason.job_id;
    }
    for (const PlacedJob& started : plan.start)
        EXPECT_FALSE(explain(world.snapshot(heads), *find(queue, started.job_id)));
}

constexpr std::uint64_t worlds = 1'000;

TEST(Worlds, every_plan_is_sound_complete_and_explained) {
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        World world(seed);
        for (int tick = 0; tick < 6; ++tick) {
            world.arrive(world.below(7));
            world.disturb();
            const Plan plan = make_plan(world.snapshot());
            expect_sound(world, plan);
            expect_memory_kept(world, plan);
            expect_groups_kept(world, plan);
            expect_complete(world, plan);
            expect_true_reasons(world, plan);
            expect_heads_suffice(world, plan);
            if (seed % 10 == 0) expect_explain_agrees(world, plan);
            if (HasFailure()) return;
            world.start(plan);
            world.pass_a_tick();
        }
    }
}

/// Whether the hosts could run the job, were they empty.
bool can_ever_run(const World& world, const WaitingJob& job) {
    std::map<std::string, int> sizes;
    for (const CoreSlot& core : world.cores())
        if (core.host_memory_bytes == 0 || job.memory_bytes.value_or(0) <= core.host_memory_bytes)
            ++sizes[core.host];
    if (job.cores > 8)
        return 8 * std::ranges::count_if(sizes, [](const auto& one) { return one.second == 8; }) >=
               job.cores;
    return std::ranges::any_of(world.cores(), [&](const CoreSlot& core) {
        const bool fits = job.core_id ? core.core == *job.core_id : job.cores <= sizes[core.host];
        const bool enough =
            core.host_memory_bytes == 0 || job.memory_bytes.value_or(0) <= core.host_memory_bytes;
        return fits && enough;
    });
}

// Goal: no job waits for ever while others keep coming. Those of its project and class go after it;
// those of other projects go before it until they are level with its project, which at the start
// may have had 1,000 core-seconds more by a quarter of their weight.
TEST(Worlds, no_job_waits_for_ever) {
    constexpr int older_jobs = 10, ticks_max = 1000, lowest_class = 4;
    for (std::uint64_t seed = 1; seed <= worlds; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        World world(seed);
        world.arrive(older_jobs);
        world.settle();
        std::vector<WaitingJob> older = world.queue();
        std::erase_if(older, [&](const WaitingJob& job) { return !can_ever_run(world, job); });
        for (int tick = 0; tick < ticks_max && !older.empty(); ++tick) {
            world.start(make_plan(world.snapshot()));
            std::erase_if(older, [&](const WaitingJob& job) { return !world.waits(job.job_id); });
            world.pass_a_tick();
            world.arrive(world.below(3), lowest_class);
        }
        for (const WaitingJob& job : older)
            ADD_FAILURE() << job.job_id << " still waits";
        if (HasFailure()) return;
    }
}

TEST(Worlds, the_same_world_gives_the_same_plan_whatever_the_order_of_its_cores) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        World world(seed);
        world.arrive(12);
        std::vector<CoreSlot> turned = world.cores();
        std::ranges::reverse(turned);
        const Plan plan = make_plan(world.snapshot());
        Snapshot other = world.snapshot();
        other.cores = turned;
        const Plan again = make_plan(other);
        EXPECT_EQ(plan.start, again.start) << "seed " << seed;
        EXPECT_EQ(plan.waiting, again.waiting) << "seed " << seed;
    }
}

}    // namespace
}    // namespace slipway
