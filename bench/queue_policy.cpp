// The planner over simulated time, in front of four hosts of eight cores. Jobs of one core and of
// eight come at random times, half of the work each; how long each runs is drawn, and its limit is
// up to twice that, as people guess. The same jobs are run by each policy, so that the rows of a
// load differ by nothing else. A preempted job saves for 10 s, keeps its age and needs 10 s more
// when it goes on. Time goes from event to event; a pass of the planner follows each.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "scheduler/placement/placement.h"

/// Longest waits and utilisation of the machine for a mix of jobs of one and of eight cores, at
/// loads of 0.7 to 1.2 of what the cores can do, with and without backfill and preemption. Prints a
/// table in Markdown.
///   usage: bench_queue_policy [JOBS [SHARE]]     (6000 at each load; 0.5 of the work in eight-core
///   jobs)
namespace slipway {
namespace {

constexpr int hosts = 4, cores_of_host = 8;
constexpr double mean_run_s = 600, save_s = 10, start_s = 10;
constexpr std::array<double, 6> loads{0.7, 0.8, 0.9, 1.0, 1.1, 1.2};

struct Policy {
    const char* name;
    bool backfills;    // jobs have limits
    bool is_urgent;    // jobs of eight cores are of a higher class
    bool preempts;     // jobs of one core give way to them
};

constexpr std::array<Policy, 4> policies{{
    {"one class", false, false, false},
    {"one class, backfill", true, false, false},
    {"eight cores first, backfill", true, true, false},
    {"eight cores first, backfill, preemption", true, true, true},
}};

struct Job {
    double comes_at = 0;
    double runs_s = 0;
    double limit_s = 0;
    int cores = 1;
    double left_s = 0;
    double waited_s = 0;
    double queued_at = 0;    // now or again
    double started_at = 0;
    double ends_at = 0;
    bool gives_way = false;
    std::string host = {};
    std::vector<int> on = {};
};

/// What they take together is `load` of what the cores can do while they come.
std::vector<Job> draw_jobs(int count, double load, double eight_share) {
    std::mt19937_64 random(7);
    std::exponential_distribution<double> run(1 / mean_run_s), gap(1);
    std::uniform_real_distribution<double> guess(1, 2), unit(0, 1);
    const double eights = eight_share / 8 / (eight_share / 8 + (1 - eight_share));
    std::vector<Job> jobs(std::size_t(count), Job{});
    double at = 0, core_s = 0;
    for (Job& job : jobs) {
        job.comes_at = at += gap(random);
        job.runs_s = job.left_s = std::clamp(run(random), 10.0, 4 * mean_run_s);
        job.limit_s = job.runs_s * guess(random) + start_s;
        job.cores = unit(random) < eights ? 8 : 1;
        core_s += job.cores * (start_s + job.runs_s);
    }
    const double stretch = core_s / (load * hosts * cores_of_host) / at;
    for (Job& job : jobs)
        job.queued_at = job.comes_at *= stretch;
    return jobs;
}

Instant instant(double seconds) {
    return Instant{std::chrono::microseconds(std::int64_t(seconds * 1e6))};
}

std::string id_of(std::size_t job) {
    return fmt::format("job_{:07}", job);
}

class Machine {
public:
    Machine(std::vector<Job> jobs, const Policy& policy) : jobs_(std::move(jobs)), policy_(policy) {
        for (int host = 0; host < hosts; ++host)
            for (int core = 1; core <= cores_of_host; ++core)
                cores_.push_back({.host = fmt::format("h{}", host), .core = core, .held_by = {}});
    }

    /// Until the last job has ended.
    void run() {
        std::size_t next = 0;
        while (next < jobs_.size() || !running_.empty() || !waiting_.empty()) {
            double at = next < jobs_.size() ? jobs_[next].comes_at : INFINITY;
            for (const std::size_t job : running_)
                at = std::min(at, jobs_[job].ends_at);
            if (!std::isfinite(at)) break;    // somebody waits for ever
            pass_time(at);
            while (next < jobs_.size() && jobs_[next].comes_at <= now_)
                waiting_.insert(next++);
            end_jobs();
            act(make_plan(snapshot()));
        }
    }

    std::size_t left_waiting() const { return waiting_.size(); }

    double longest_wait_s(int cores) const {
        double longest = 0;
        for (const Job& job : jobs_)
            if (job.cores == cores) longest = std::max(longest, job.waited_s);
        return longest;
    }
    double mean_wait_s(int cores) const {
        double sum = 0, count = 0;
        for (const Job& job : jobs_) {
            if (job.cores != cores) continue;
            sum += job.waited_s;
            ++count;
        }
        return sum / std::max(count, 1.0);
    }
    /// While jobs came, after the first tenth.
    double utilisation() const { return busy_core_s_ / (window_s_ * hosts * cores_of_host); }
    int preempted() const { return preempted_; }

private:
    void pass_time(double at) {
        const double first = jobs_.back().comes_at / 10, last = jobs_.back().comes_at;
        const double seconds = std::min(at, last) - std::max(now_, first);
        now_ = at;
        if (seconds <= 0) return;
        window_s_ += seconds;
        for (const CoreSlot& core : cores_)
            if (!core.held_by.empty()) busy_core_s_ += seconds;
    }

    void end_jobs() {
        for (auto each = running_.begin(); each != running_.end();) {
            const std::size_t number = *each;
            Job& job = jobs_[number];
            if (job.ends_at > now_) {
                ++each;
                continue;
            }
            for (CoreSlot& core : cores_)
                if (core.held_by == id_of(number)) core.held_by.clear();
            each = running_.erase(each);
            if (!std::exchange(job.gives_way, false)) continue;
            job.queued_at = now_;
            waiting_.insert(number);
        }
    }

    /// Of each shape as many as there are cores, as the store hands them in (decision 0017).
    Snapshot snapshot() const {
        Snapshot snapshot{.queue = {}, .cores = cores_, .now = instant(now_)};
        std::map<int, int> taken;
        for (const std::size_t number : waiting_) {
            const Job& job = jobs_[number];
            if (taken[job.cores]++ >= hosts * cores_of_host) continue;
            WaitingJob waiting{.job_id = id_of(number),
                               .class_rank = rank_of(job),
                               .queued_at = instant(job.comes_at),
                               .cores = job.cores,
                               .core_id = {},
                               .due_at = {}};
            if (policy_.backfills)
                waiting.runs_at_most =
                    std::chrono::seconds(std::int64_t(std::ceil(job.limit_s - done_s(job))));
            snapshot.queue.push_back(std::move(waiting));
        }
        for (const std::size_t number : running_) {
            const Job& job = jobs_[number];
            RunningJob row{.job_id = id_of(number),
                           .class_rank = rank_of(job),
                           .cores = job.cores,
                           .started_at = instant(job.started_at),
                           .preemptible = policy_.preempts,
                           .ending = job.gives_way};
            if (policy_.backfills)
                row.ends_by = instant(job.started_at + job.limit_s - (job.runs_s - job.left_s));
            snapshot.running.push_back(std::move(row));
        }
        return snapshot;
    }

    int rank_of(const Job& job) const { return policy_.is_urgent && job.cores == 8 ? 1 : 2; }
    static double done_s(const Job& job) { return job.runs_s - job.left_s; }

    void act(const Plan& plan) {
        for (const PreemptedJob& one : plan.preempt) {
            Job& job = jobs_[std::stoull(one.job_id.substr(4))];
            const double did_s = std::max(now_ - job.started_at - start_s, 0.0);
            if (job.ends_at <= now_ + save_s) continue;    // it has ended before it has saved
            job.left_s = std::max(job.left_s - did_s, 1.0);
            job.gives_way = true;
            job.ends_at = now_ + save_s;
            ++preempted_;
        }
        for (const PlacedJob& placed : plan.start) {
            const std::size_t number = std::stoull(placed.job_id.substr(4));
            Job& job = jobs_[number];
            job.waited_s += now_ - job.queued_at;
            job.started_at = now_;
            job.ends_at = now_ + start_s + job.left_s;
            for (CoreSlot& core : cores_)
                if (core.host == placed.host && std::ranges::count(placed.cores, core.core) > 0)
                    core.held_by = placed.job_id;
            waiting_.erase(number);
            running_.insert(number);
        }
    }

    std::vector<Job> jobs_;
    const Policy policy_;
    std::vector<CoreSlot> cores_;
    std::set<std::size_t> waiting_, running_;
    double now_ = 0, busy_core_s_ = 0, window_s_ = 0;
    int preempted_ = 0;
};

void print_row(double load, const Policy& policy, const Machine& machine) {
    fmt::print("| {:.1f} | {} | {:.1f} % | {:.0f} / {:.0f} | {:.0f} / {:.0f} | {} |\n", load,
               policy.name, 100 * machine.utilisation(), machine.mean_wait_s(1) / 60,
               machine.longest_wait_s(1) / 60, machine.mean_wait_s(8) / 60,
               machine.longest_wait_s(8) / 60, machine.preempted());
}

int run_all(int jobs, double eight_share) {
    fmt::print(
        "{} hosts of {} cores, {} jobs a row, mean {:.0f} min; {:.0f} % of the work in "
        "eight-core jobs; waits in minutes, mean / longest\n\n"
        "| load | policy | utilisation | one core | eight cores | preempted |\n"
        "|---|---|---|---|---|---|\n",
        hosts, cores_of_host, jobs, mean_run_s / 60, 100 * eight_share);
    std::size_t left = 0;
    for (const double load : loads)
        for (const Policy& policy : policies) {
            Machine machine(draw_jobs(jobs, load, eight_share), policy);
            machine.run();
            print_row(load, policy, machine);
            left += machine.left_waiting();
        }
    fmt::print("\njobs that never started: {}\n", left);
    return left == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    return slipway::run_all(count > 1 ? std::max(std::atoi(words[1]), 10) : 6000,
                            count > 2 ? std::atof(words[2]) : 0.5);
}
