#include "executor/bench/measure.h"

#include <sys/resource.h>

#include <algorithm>

#include "api/base/clock.h"
#include "executor/bench/flops.h"
#include "executor/bench/step.h"
#include "executor/codegen/onednn/product_rate.h"
#include "executor/passes/pipeline.h"
#include "executor/runtime/cpus.h"

namespace slipway {

namespace {

constexpr int warm_up_steps = 3, choosing_steps_max = 5000;

double milliseconds_of(const auto& work) {
    const Tick begin = system_clock().tick();
    work();
    return std::chrono::duration<double, std::milli>(system_clock().tick() - begin).count();
}

rusage usage() {
    rusage all{};
    getrusage(RUSAGE_SELF, &all);
    return all;
}

/// What all threads of the process have worked so far.
double cpu_milliseconds(const rusage& all) {
    const auto milliseconds = [](const timeval& time) {
        return double(time.tv_sec) * 1e3 + double(time.tv_usec) * 1e-3;
    };
    return milliseconds(all.ru_utime) + milliseconds(all.ru_stime);
}

double median_of(std::vector<double> sorted) {
    const std::size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

void run_steps(Engine& engine, const Executable& executable, const std::vector<Value>& values,
               int repeats, BenchResult& result) {
    for (int i = 0; i < warm_up_steps; ++i)
        engine.run(executable, values);
    for (int i = 0; i < choosing_steps_max && !engine.worker_choice().is_settled(); ++i)
        engine.run(executable, values);
    const WorkerChoice& choice = engine.worker_choice();
    result.threads = choice.granted() > 1 ? choice.chosen() : engine.workers();
    std::vector<double> times;
    times.reserve(std::size_t(repeats));
    const rusage before = usage();
    for (int i = 0; i < repeats; ++i) {
        times.push_back(milliseconds_of([&] {
            const std::vector<Value> outputs = engine.run(executable, values);
            result.loss = double(outputs.back().arrays.front().as<float>()[0]);
        }));
    }
    const rusage after = usage();
    result.faults_per_step = double(after.ru_minflt - before.ru_minflt) / repeats;
    result.cpu_ms = (cpu_milliseconds(after) - cpu_milliseconds(before)) / repeats;
    std::ranges::sort(times);
    result.min_ms = times.front();
    result.median_ms = median_of(times);
    result.items_per_s = double(result.batch) / result.median_ms * 1e3;
}

DType product_type(PrecisionPolicy precision) {
    return precision == PrecisionPolicy::f32 ? DType::f32 : DType::bf16;
}

}    // namespace

BenchResult measure(const Workload& workload, const BenchOptions& options) {
    BenchResult result{.batch = options.batch > 0 ? options.batch : workload.batch,
                       .cores = options.cores > 0 ? options.cores : options.threads};
    BenchModel model = make_bench_model(workload, options.one_core);
    BenchStep step;
    result.trace_ms = milliseconds_of(
        [&] { step = trace_bench_step(model, result.batch, result.cores, options.optimizer); });
    const PassOptions passes{.precision = options.precision};
    result.flops = product_flops(optimize(step.graph, {.passes = passes}).graph, result.cores);

    Engine engine({.cores = result.cores,
                   .workers = options.threads,
                   .precision = options.precision,
                   .cpu_scope = options.pin ? machine_cpu_scope : "",
                   .chooses_workers = options.chooses_threads});
    std::shared_ptr<const Executable> executable;
    result.compile_ms = milliseconds_of([&] { executable = engine.compile(step.graph); });
    result.peak_bytes = engine.memory(*executable).peak_bytes;
    const std::vector<Value> values = bench_values(model, step);
    model.parameters.forget_values();
    run_steps(engine, *executable, values, options.repeats, result);
    result.resident_peak_bytes = std::int64_t(usage().ru_maxrss) * 1024;

    result.rate = measure_product_rate(product_type(options.precision), options.threads);
    result.limit_ms = result.rate > 0 ? result.flops / result.rate * 1e3 : 0;
    return result;
}

}    // namespace slipway
