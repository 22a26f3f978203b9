// The queue is kept at its length: for each job that starts another one comes. The machine is full
// after the first pass, which is therefore printed alone; each pass after it follows the ends of
// one simulated second, as a pass of the service follows a notification. Only make_plan is timed.

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "bench/simulated_cluster.h"

/// What a pass of the planner costs in front of many simulated hosts and a long queue: jobs of one
/// core (half), of eight (a quarter) and slices of 16 to all cores (a quarter).
///   usage: bench_planner_cost [HOSTS [QUEUED [PASSES [PROJECTS]]]]     (256 10000 200 4)
namespace slipway {
namespace {

struct Question {
    int hosts = 256;
    int queued = 10000;
    int passes = 200;
    int projects = 4;
    bool has_limits = true;
};

struct Costs {
    std::vector<double> pass_ms = {};
    double first_ms = 0;
    std::size_t looked_at = 0;    // jobs, over all passes but the first
    std::size_t started = 0;
};

class JobSource {
public:
    explicit JobSource(const Question& question) : question_(question) {}

    ClusterJob next(double now_s) {
        std::exponential_distribution<double> run(1.0 / 600);
        std::uniform_real_distribution<double> guess(1, 2);
        ClusterJob job{.comes_at_s = now_s, .cores = cores()};
        job.runs_s = std::clamp(run(random_), 10.0, 3600.0);
        job.limit_s = job.runs_s * guess(random_) + 30;
        job.project = fmt::format("project-{}", below(question_.projects));
        return job;
    }

private:
    int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }

    int cores() {
        const int kind = below(4);
        if (kind < 2) return 1;
        if (kind == 2 || question_.hosts < 2) return 8;
        int sizes = 0;    // 16, 32, 64 … that there are hosts for
        while ((2 << sizes) <= question_.hosts)
            ++sizes;
        return 16 << below(sizes);
    }

    Question question_;
    std::mt19937_64 random_{7};
};

double timed_ms(const Snapshot& snapshot, Plan& plan) {
    const Tick begin = system_clock().tick();
    plan = make_plan(snapshot);
    return std::chrono::duration<double, std::milli>(system_clock().tick() - begin).count();
}

Costs measure(const Question& question) {
    JobSource source(question);
    SimulatedCluster cluster(question.hosts, question.has_limits);
    for (int job = 0; job < question.queued; ++job)
        cluster.add(source.next(0));
    Costs costs;
    Plan plan;
    for (int pass = 0; pass <= question.passes && cluster.advance(); ++pass) {
        const Snapshot snapshot = cluster.snapshot();
        const double took_ms = timed_ms(snapshot, plan);
        cluster.apply(plan);
        for (std::size_t job = 0; job < plan.start.size(); ++job)
            cluster.add(source.next(cluster.now_s()));
        if (pass == 0) {
            costs.first_ms = took_ms;
            continue;
        }
        costs.pass_ms.push_back(took_ms);
        costs.looked_at += snapshot.queue.size();
        costs.started += plan.start.size();
    }
    std::ranges::sort(costs.pass_ms);
    return costs;
}

double percentile(const std::vector<double>& sorted, double fraction) {
    return sorted[std::min(sorted.size() - 1, std::size_t(fraction * double(sorted.size())))];
}

void print(const Question& question, const Costs& costs) {
    double all_ms = 0;
    for (const double one : costs.pass_ms)
        all_ms += one;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto passes = double(costs.pass_ms.size());
    fmt::print("| {} | {} | {} | {} | {:.0f} | {:.0f} | {:.1f} / {:.1f} | {:.0f} | {:.1f} | {} |\n",
               question.hosts, question.queued, question.projects,
               question.has_limits ? "yes" : "no", double(costs.looked_at) / passes, costs.first_ms,
               percentile(costs.pass_ms, 0.5), percentile(costs.pass_ms, 0.99),
               1000 * double(costs.looked_at) / all_ms, double(costs.started) / passes,
               usage.ru_maxrss / 1024);
}

int run(Question question) {
    fmt::print(
        "A decision: a job starts, or has its reason to wait. Memory: of this program, with the "
        "simulation.\n\n"
        "| hosts | queued | projects | limits | jobs looked at | first pass, ms | pass, ms, p50 / "
        "p99 | decisions/s | starts a pass | memory, MiB |\n"
        "|---|---|---|---|---|---|---|---|---|---|\n");
    for (const bool has_limits : {false, true}) {
        question.has_limits = has_limits;
        const Costs costs = measure(question);
        if (costs.pass_ms.empty()) {
            fmt::print("no pass followed the first: nothing runs\n");
            return 1;
        }
        print(question, costs);
    }
    return 0;
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    const auto word = [&](int at, int otherwise) {
        return count > at ? std::max(std::atoi(words[at]), 1) : otherwise;
    };
    return slipway::run({.hosts = word(1, 256),
                         .queued = word(2, 10000),
                         .passes = word(3, 200),
                         .projects = word(4, 4)});
}
