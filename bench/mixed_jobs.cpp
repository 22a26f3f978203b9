// The ideal is a machine that cuts jobs at will, wastes nothing and serves in the order of arrival:
// a job waits there for the work that is ahead of it, over all cores. No planner comes near it with
// slices of the whole machine, which first has to become empty; how far off it is, is the price of
// whole jobs on whole hosts, and what backfill gives back of it is the difference of two rows.
//
// Jobs come at random times. How long they run is drawn, and a limit is 1 to 2 times that, as
// people guess. A job starves when it has not started although everything that comes has come and
// ended: the simulation goes on until nothing runs, so a job that is left is one the planner never
// starts.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bench/simulated_cluster.h"

/// How long jobs of one core, of eight and slices of all sizes wait beside each other on simulated
/// hosts, how full the machine is, and whether any of them starves. Prints a table in Markdown.
///   usage: bench_mixed_jobs [JOBS [HOSTS]]     (1000 32)
namespace slipway {
namespace {

constexpr std::array<double, 4> loads{0.6, 0.8, 1.0, 1.2};
constexpr double mean_run_s = 600;

struct Mix {
    const char* name;
    bool is_one_project;    // or one for each kind of job
};

constexpr std::array<Mix, 2> mixes{{{"one", true}, {"a project each", false}}};

enum Kind { one_core, eight_cores, slice, kinds };

Kind kind_of(int cores) {
    return cores == 1 ? one_core : cores == 8 ? eight_cores : slice;
}

/// Six of ten jobs of one core, a quarter of eight, and slices of 2, 4, 8 … all hosts.
int draw_cores(std::mt19937_64& random, int hosts) {
    const int part = std::uniform_int_distribution<int>(0, 99)(random);
    if (part < 60) return 1;
    if (part < 85 || hosts < 2) return 8;
    int sizes = 0;
    while ((2 << sizes) <= hosts)
        ++sizes;
    return 16 << std::uniform_int_distribution<int>(0, sizes - 1)(random);
}

/// What they take together is `load` of what the cores can do while they come.
std::vector<ClusterJob> draw_jobs(int count, int hosts, double load, const Mix& mix) {
    std::mt19937_64 random(11);
    std::exponential_distribution<double> run(1 / mean_run_s), gap(1);
    std::uniform_real_distribution<double> guess(1, 2);
    std::vector<ClusterJob> jobs;
    double at_s = 0, core_s = 0;
    for (int number = 0; number < count; ++number) {
        ClusterJob job{.comes_at_s = at_s += gap(random), .cores = draw_cores(random, hosts)};
        job.runs_s = std::clamp(run(random), 10.0, 4 * mean_run_s);
        job.limit_s = job.runs_s * guess(random) + 30;
        job.project = mix.is_one_project ? "all" : fmt::format("project-{}", kind_of(job.cores));
        core_s += job.cores * job.runs_s;
        jobs.push_back(std::move(job));
    }
    const double stretch = core_s / (load * hosts * slice_host_cores) / at_s;
    for (ClusterJob& job : jobs)
        job.comes_at_s *= stretch;
    return jobs;
}

struct Result {
    std::array<double, kinds> longest_s{};
    double ideal_s = 0;    // longest
    double utilisation = 0;
    double ends_at_s = 0, ideal_end_s = 0;
    std::size_t starved = 0;
};

/// The wait of the ideal machine, and when it is done.
void add_ideal(const std::vector<ClusterJob>& jobs, int cores, Result& result) {
    double ahead_core_s = 0, at_s = 0;
    for (const ClusterJob& job : jobs) {
        ahead_core_s = std::max(0.0, ahead_core_s - (job.comes_at_s - at_s) * cores);
        at_s = job.comes_at_s;
        result.ideal_s = std::max(result.ideal_s, ahead_core_s / cores);
        ahead_core_s += job.cores * job.runs_s;
    }
    result.ideal_end_s = at_s + ahead_core_s / cores;
}

Result run(const std::vector<ClusterJob>& jobs, int hosts, bool has_limits) {
    SimulatedCluster cluster(hosts, has_limits);
    for (const ClusterJob& job : jobs)
        cluster.add(job);
    Result result;
    double busy_core_s = 0;
    while (cluster.advance()) {
        cluster.apply(make_plan(cluster.snapshot()));
        if (cluster.now_s() <= jobs.back().comes_at_s) busy_core_s = cluster.busy_core_s();
    }
    for (const ClusterJob& job : cluster.jobs()) {
        if (job.starts_at_s < 0) {
            ++result.starved;
            continue;
        }
        double& longest_s = result.longest_s[kind_of(job.cores)];
        longest_s = std::max(longest_s, job.starts_at_s - job.comes_at_s);
    }
    result.ends_at_s = cluster.now_s();
    result.utilisation = busy_core_s / (jobs.back().comes_at_s * cluster.cores());
    add_ideal(jobs, cluster.cores(), result);
    return result;
}

int run_all(int jobs, int hosts) {
    fmt::print(
        "{} jobs on {} hosts of {} cores, mean run {:.0f} min. Waits: the longest, in minutes. "
        "End: "
        "of all jobs, over the ideal's.\n\n"
        "| load | projects | backfill | one core | eight cores | slices | ideal | utilisation | "
        "end "
        "| starved |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n",
        jobs, hosts, slice_host_cores, mean_run_s / 60);
    std::size_t starved = 0;
    for (const double load : loads)
        for (const Mix& mix : mixes)
            for (const bool backfills : {false, true}) {
                const Result result = run(draw_jobs(jobs, hosts, load, mix), hosts, backfills);
                fmt::print(
                    "| {:.1f} | {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.0f} | {:.0f} % | "
                    "{:.2f} | {} |\n",
                    load, mix.name, backfills ? "yes" : "no", result.longest_s[one_core] / 60,
                    result.longest_s[eight_cores] / 60, result.longest_s[slice] / 60,
                    result.ideal_s / 60, 100 * result.utilisation,
                    result.ends_at_s / result.ideal_end_s, result.starved);
                starved += result.starved;
            }
    return starved == 0 ? 0 : 1;
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    return slipway::run_all(count > 1 ? std::max(std::atoi(words[1]), 10) : 1000,
                            count > 2 ? std::clamp(std::atoi(words[2]), 1, 256) : 32);
}
