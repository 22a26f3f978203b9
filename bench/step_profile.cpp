#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/bench/flops.h"
#include "executor/bench/step.h"
#include "executor/codegen/lower.h"
#include "executor/passes/pipeline.h"
#include "executor/runtime/run.h"

/// Where the time of a workload's training step goes: CPU time of each kernel of its program, of
/// all workers, so a busy machine does not matter much.
///
/// usage: bench_step_profile WORKLOAD [f32|bf16] [rounds] [cores|one] [batch] [workers]
///        (f32, 5, 1, the workload's, 1); one: a job of one core, its batch in 8 parts
namespace slipway {
namespace {

/// What the calling thread itself worked: waiting for a busy machine does not count.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// CPU time by worker, each of which adds to its own, and step.
using Spent = std::vector<std::vector<double>>;

/// Wraps every kernel in a stopwatch.
std::shared_ptr<Spent> put_stopwatches(Program& program, int workers) {
    auto spent =
        std::make_shared<Spent>(std::size_t(workers), std::vector<double>(program.steps.size()));
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        for (Kernel* kernel : {&program.steps[i].kernel, &program.steps[i].together}) {
            if (!*kernel) continue;
            *kernel = [inner = std::move(*kernel), spent, i](const KernelCall& call) {
                const double begin = cpu_seconds();
                inner(call);
                (*spent)[std::size_t(call.worker)][i] += cpu_seconds() - begin;
            };
        }
    return spent;
}

/// By step, of all workers.
std::vector<double> seconds_by_step(const Spent& spent) {
    std::vector<double> seconds(spent.front().size());
    for (const std::vector<double>& of_worker : spent)
        std::ranges::transform(seconds, of_worker, seconds.begin(), std::plus());
    return seconds;
}

struct Profiled {
    PrecisionPolicy precision = PrecisionPolicy::f32;
    int rounds = 5;
    Team team;
    std::int64_t batch = 0;
    bool one_core = false;
};

Bindings bindings_of(const Program& program, std::vector<Value>& inputs,
                     std::vector<Array>& outputs, int cores) {
    Bindings bindings;
    for (Value& input : inputs) {
        bindings.inputs.emplace_back();
        for (Array& array : input.arrays)
            bindings.inputs.back().push_back(array.bytes());
    }
    for (const Slot& slot : program.outputs) {
        bindings.outputs.emplace_back();
        for (int core = 0; core < (slot.per_core ? cores : 1); ++core) {
            outputs.push_back(slot.donated ? inputs[*slot.donated].arrays[std::size_t(core)]
                                           : Array(slot.shape));
            bindings.outputs.back().push_back(outputs.back().bytes());
        }
    }
    return bindings;
}

struct Row {
    double seconds = 0;
    int count = 0;
};

void print_rows(const std::map<std::string, Row>& rows, double total_s) {
    std::vector<std::pair<std::string, Row>> sorted(rows.begin(), rows.end());
    std::ranges::sort(sorted, std::greater{}, [](const auto& row) { return row.second.seconds; });
    for (const auto& [name, row] : sorted)
        if (row.seconds > total_s * 2e-3)
            fmt::print("  {:5.1f} %  {:9.3f} ms  {:4} x  {}\n", 100 * row.seconds / total_s,
                       row.seconds * 1e3, row.count, name);
}

void profile(const Workload& workload, const Profiled& profiled) {
    const auto [precision, rounds, team, batch, one_core] = profiled;
    const BenchModel model = make_bench_model(workload, one_core);
    const BenchStep step = trace_bench_step(model, batch, team.cores);
    const Graph graph = optimize(step.graph, {.passes = {.precision = precision}}).graph;
    Program program = lower(graph, {.workers = team.workers, .cores = team.cores});
    const auto spent = put_stopwatches(program, team.workers);
    Runtime runtime(team);
    std::vector<Value> inputs = bench_values(model, step);
    std::vector<Array> outputs;
    const Bindings bindings = bindings_of(program, inputs, outputs, team.cores);
    const RunPlan plan = make_run_plan(program, runtime.team());
    runtime.run(program, plan, bindings);
    for (std::vector<double>& of_worker : *spent)
        std::ranges::fill(of_worker, 0);
    double reducing_s = 0;
    for (int i = 0; i < rounds; ++i) {
        runtime.run(program, plan, bindings);
        reducing_s += std::chrono::duration<double>(runtime.times().workers[0].reducing).count();
    }

    const std::vector<double> seconds = seconds_by_step(*spent);
    const double total_s = std::accumulate(seconds.begin(), seconds.end(), 0.0) / rounds;
    std::map<std::string, Row> by_name, by_kind;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const std::string& name = program.steps[i].name;
        const char* const together = program.steps[i].together ? " together" : "";
        for (Row* row : {&by_name[name + together], &by_kind[name.substr(0, name.find(' '))]}) {
            row->seconds += seconds[i] / rounds;
            ++row->count;
        }
    }
    const double flops = product_flops(graph, team.cores);
    fmt::print("{} {}: {:.2f} ms of CPU time per step, {} steps, {:.2f} GFLOP\n", workload.name,
               precision == PrecisionPolicy::f32 ? "f32" : "bf16", total_s * 1e3,
               program.steps.size(), flops * 1e-9);
    fmt::print("{:.2f} ms of elapsed time of worker 0 in sums over the cores\n",
               reducing_s / rounds * 1e3);
    print_rows(by_kind, total_s);
    fmt::print("by step\n");
    print_rows(by_name, total_s);
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    using namespace slipway;
    if (count < 2) {
        fmt::print(stderr,
                   "usage: bench_step_profile WORKLOAD [f32|bf16] [rounds] [cores|one] [batch] "
                   "[workers]\n");
        return 2;
    }
    const auto number = [&](int position, std::int64_t otherwise) {
        return count > position ? std::stoll(words[position]) : otherwise;
    };
    const bool is_narrow = count > 2 && std::string_view(words[2]) == "bf16";
    const bool one_core = count > 4 && std::string_view(words[4]) == "one";
    const Workload& workload = find_workload(words[1]);
    profile(workload, {.precision = is_narrow ? PrecisionPolicy::bf16 : PrecisionPolicy::f32,
                       .rounds = int(number(3, 5)),
                       .team = {.cores = one_core ? block_cores : int(number(4, 1)),
                                .workers = int(number(6, 1))},
                       .batch = number(5, workload.batch),
                       .one_core = one_core});
}
