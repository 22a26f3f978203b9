#include "bench/simulated_cluster.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "scheduler/placement/fair_share.h"

namespace slipway {

namespace {

constexpr double usage_half_life_s = 86400;

Instant instant(double seconds) {
    return Instant{std::chrono::microseconds(std::int64_t(seconds * 1e6))};
}

std::string id_of(std::size_t number) {
    return fmt::format("job_{:07}", number);
}

std::size_t number_of(const std::string& job_id) {
    return std::stoull(job_id.substr(4));
}

}    // namespace

SimulatedCluster::SimulatedCluster(int hosts, bool has_limits) : has_limits_(has_limits) {
    for (int host = 0; host < hosts; ++host) {
        const std::string name = fmt::format("rack-{}", host + 1);
        host_numbers_[name] = std::size_t(host);
        for (int core = 1; core <= slice_host_cores; ++core)
            slots_.push_back({.host = name, .core = core, .held_by = {}});
    }
}

void SimulatedCluster::add(ClusterJob job) {
    projects_[job.project].name = job.project;
    jobs_.push_back(std::move(job));
}

void SimulatedCluster::pass_time(double until_s) {
    const double elapsed_s = until_s - now_s_;
    std::map<std::string, int> held;
    for (const auto& [number, slots] : running_)
        held[jobs_[number].project] += jobs_[number].cores;
    for (auto& [name, project] : projects_) {
        project.usage_core_s *= std::exp2(-elapsed_s / usage_half_life_s);
        project.usage_core_s += elapsed_s * held[name];
        busy_core_s_ += elapsed_s * held[name];
    }
    now_s_ = until_s;
}

bool SimulatedCluster::advance() {
    double at_s = next_ < jobs_.size() ? jobs_[next_].comes_at_s : INFINITY;
    for (const auto& [number, slots] : running_)
        at_s = std::min(at_s, jobs_[number].ends_at_s);
    if (!std::isfinite(at_s)) return false;
    pass_time(std::max(now_s_, std::ceil(at_s)));
    for (auto each = running_.begin(); each != running_.end();) {
        if (jobs_[each->first].ends_at_s > now_s_) {
            ++each;
            continue;
        }
        for (const std::size_t slot : each->second)
            slots_[slot].held_by.clear();
        each = running_.erase(each);
    }
    while (next_ < jobs_.size() && jobs_[next_].comes_at_s <= now_s_)
        queue_.emplace(next_++, true);
    return true;
}

WaitingJob SimulatedCluster::waiting(std::size_t number) const {
    const ClusterJob& job = jobs_[number];
    WaitingJob row{.job_id = id_of(number),
                   .queued_at = instant(job.comes_at_s),
                   .cores = job.cores,
                   .core_id = {},
                   .due_at = {},
                   .project = job.project};
    if (has_limits_) row.runs_at_most = std::chrono::seconds(std::int64_t(std::ceil(job.limit_s)));
    return row;
}

RunningJob SimulatedCluster::running_row(std::size_t number) const {
    const ClusterJob& job = jobs_[number];
    RunningJob row{.job_id = id_of(number),
                   .project = job.project,
                   .cores = job.cores,
                   .started_at = instant(job.starts_at_s)};
    if (has_limits_) row.ends_by = instant(job.starts_at_s + job.limit_s);
    return row;
}

Snapshot SimulatedCluster::snapshot() const {
    Snapshot snapshot{.queue = {}, .cores = slots_, .now = instant(now_s_)};
    std::map<std::pair<std::string, int>, std::size_t> taken;
    for (const auto& [number, waits] : queue_) {
        const ClusterJob& job = jobs_[number];
        if (taken[{job.project, job.cores}]++ < slots_.size())
            snapshot.queue.push_back(waiting(number));
    }
    for (const auto& [number, slots] : running_)
        snapshot.running.push_back(running_row(number));
    for (const auto& [name, project] : projects_)
        snapshot.projects.push_back(project);
    return snapshot;
}

void SimulatedCluster::apply(const Plan& plan) {
    for (const PlacedJob& placed : plan.start) {
        const std::size_t number = number_of(placed.job_id);
        ClusterJob& job = jobs_[number];
        job.starts_at_s = now_s_;
        job.ends_at_s = now_s_ + job.runs_s;
        std::vector<std::string> hosts = placed.other_hosts;
        hosts.push_back(placed.host);
        for (const std::string& host : hosts)
            for (const int core : placed.cores) {
                const std::size_t slot =
                    host_numbers_.at(host) * slice_host_cores + std::size_t(core - 1);
                slots_[slot].held_by = placed.job_id;
                running_[number].push_back(slot);
            }
        queue_.erase(number);
    }
}

}    // namespace slipway
