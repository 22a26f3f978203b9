#include <fmt/core.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/base/check.h"
#include "api/base/clock.h"
#include "api/base/error.h"
#include "api/base/posix.h"
#include "executor/bench/step.h"
#include "executor/cache/environment.h"
#include "executor/cache/object_cache.h"
#include "executor/engine/engine.h"
#include "executor/runtime/run_plan.h"

/// What it takes to get to the first step, and what is left of it in every further one. A line of
/// JSON for each workload:
///   trace_ms                      describing the step; once in a run
///   cold_compile_ms, …_cpu_ms     making its program with no code on disk
///   disk_compile_ms, …_cpu_ms     the same in another process that finds the code there
///   lookup_ms                     finding the program of a graph that is traced already
///   guard_ms, guard_share         checking and binding what a step is given, and its part of a
///   step retrace_share                 what tracing and looking up in every step would be of it
///   kernels, code_bytes           loop kernels and their machine code
/// Each measurement has a process of its own. CPU times do not mind a busy machine much.
/// usage: bench_compile_times [--threads N] [--repeats N] [WORKLOAD...]
namespace slipway {
namespace {

using Line = nlohmann::ordered_json;

struct Options {
    int threads = granted_cpus();    ///< as many virtual cores, which share the batch
    int repeats = 10;                ///< steps to time
};

double cpu_ms() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e3 * double(time.tv_sec) + 1e-6 * double(time.tv_nsec);
}

double milliseconds_of(const auto& work) {
    const Tick begin = system_clock().tick();
    work();
    return std::chrono::duration<double, std::milli>(system_clock().tick() - begin).count();
}

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
    std::ranges::nth_element(values, middle);
    return *middle;
}

void measure_steps(Engine& engine, const Graph& graph, const Executable& executable,
                   const std::vector<Value>& values, int repeats, Line& line) {
    std::vector<double> steps, guards, lookups;
    engine.run(executable, values);    // the first touches new memory
    for (int i = 0; i < repeats; ++i) {
        steps.push_back(milliseconds_of([&] { engine.run(executable, values); }));
        guards.push_back(1e3 * engine.binding_s());
        lookups.push_back(milliseconds_of([&] { engine.compile(graph); }));
    }
    line["step_ms"] = median_of(steps);
    line["lookup_ms"] = median_of(lookups);
    line["guard_ms"] = median_of(guards);
}

/// Compiles one workload's step in this process; runs it too when `repeats` is above 0.
Line measure(const Workload& workload, const std::filesystem::path& cache_folder, int threads,
             int repeats) {
    Line line;
    ObjectCache cache({.folder = cache_folder, .environment = cache_environment(code_compiler())});
    const BenchModel model = make_bench_model(workload);
    BenchStep step;
    line["trace_ms"] =
        milliseconds_of([&] { step = trace_bench_step(model, workload.batch, threads); });
    Engine engine({.cores = threads, .workers = threads, .cache = &cache});
    std::shared_ptr<const Executable> executable;
    const double begin_cpu_ms = cpu_ms();
    line["compile_ms"] = milliseconds_of([&] { executable = engine.compile(step.graph); });
    line["compile_cpu_ms"] = cpu_ms() - begin_cpu_ms;
    line["code_bytes"] = engine.memory(*executable).code_bytes;
    line["compiled"] = cache.counts().misses;
    line["found"] = cache.counts().hits;
    if (repeats > 0)
        measure_steps(engine, step.graph, *executable, bench_values(model, step), repeats, line);
    return line;
}

/// What `work` gives in a new process, which has loaded and warmed up nothing.
Line in_a_new_process(const auto& work) {
    int ends[2];
    if (pipe(ends) != 0) throw Error(ErrorCode::unavailable, "no pipe for a measurement");
    UniqueFd reading(ends[0]), writing(ends[1]);
    const pid_t child = fork();
    if (child == 0) {
        const std::string text = work().dump();
        const bool whole = write(writing.get(), text.data(), text.size()) == ssize_t(text.size());
        _exit(whole ? 0 : 1);
    }
    writing.reset();
    std::string text;
    char part[4096];
    for (ssize_t got = 0; (got = read(reading.get(), part, sizeof part)) > 0;)
        text.append(part, std::size_t(got));
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || text.empty()) throw Error(ErrorCode::internal, "a measurement ended early");
    return Line::parse(text);
}

Line measure_both(const Workload& workload, const Options& options) {
    std::string folder = (std::filesystem::temp_directory_path() / "compile_times_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr)
        throw Error(ErrorCode::unavailable, "no folder for the measurement's code");
    const std::filesystem::path cache = std::filesystem::path(folder) / "cache";
    const Line cold =
        in_a_new_process([&] { return measure(workload, cache, options.threads, 0); });
    const Line warm = in_a_new_process(
        [&] { return measure(workload, cache, options.threads, options.repeats); });
    std::filesystem::remove_all(folder);
    check(warm.at("compiled") == 0, "what one process compiled, the next finds");
    const double step_ms = warm.at("step_ms");
    const double again_ms = warm.at("trace_ms").get<double>() + warm.at("lookup_ms").get<double>();
    return {{"workload", workload.name},
            {"threads", options.threads},
            {"trace_ms", warm.at("trace_ms")},
            {"cold_compile_ms", cold.at("compile_ms")},
            {"cold_compile_cpu_ms", cold.at("compile_cpu_ms")},
            {"disk_compile_ms", warm.at("compile_ms")},
            {"disk_compile_cpu_ms", warm.at("compile_cpu_ms")},
            {"kernels", cold.at("compiled")},
            {"code_bytes", warm.at("code_bytes")},
            {"step_ms", step_ms},
            {"lookup_ms", warm.at("lookup_ms")},
            {"guard_ms", warm.at("guard_ms")},
            {"guard_share", warm.at("guard_ms").get<double>() / step_ms},
            {"retrace_share", again_ms / step_ms}};
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    using namespace slipway;
    Options options;
    std::vector<std::string> names;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--threads" && i + 1 < count)
            options.threads = std::atoi(words[++i]);
        else if (word == "--repeats" && i + 1 < count)
            options.repeats = std::max(1, std::atoi(words[++i]));
        else
            names.push_back(word);
    }
    if (names.empty()) names = {"mlp128", "cnn128", "resnet34_32", "bert_base"};
    try {
        for (const std::string& name : names)
            fmt::print("{}\n", measure_both(find_workload(name), options).dump());
    } catch (const Error& error) {
        fmt::print(stderr, "bench_compile_times: {}\n", error.what());
        return 1;
    }
}
