#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "executor/explain/explainer.h"
#include "executor/graph/ops.h"
#include "executor/runtime/run_times.h"

/// What measuring a training step costs, over a step as small as real ones get: what an explainer
/// does in each step, timed by itself many times, beside the fastest of some steps of a 784-256-10
/// network on 8 cores. Both are minima. A line:
///   step 310.2 us, measuring 1.91 us: 0.62 %
/// usage: bench_explainer_cost
namespace slipway {
namespace {

double seconds(Tick::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// Two layers forward on 16 samples per core, and their sum.
Graph small_step() {
    const Tensor x = input({DType::f32, {16, 784}}, Placement::per_core, "features");
    const Tensor first = input({DType::f32, {784, 256}}, Placement::replicated, "first");
    const Tensor second = input({DType::f32, {256, 10}}, Placement::replicated, "second");
    Graph graph;
    graph.inputs = {x, first, second};
    graph.outputs = {
        all_reduce(reduce(matmul(tanh(matmul(x, first)), second), {0}, Reduction::add))};
    return graph;
}

double step_seconds(Engine& engine, const Executable& executable) {
    std::vector<Value> inputs(3);
    for (int core = 0; core < 8; ++core)
        inputs[0].arrays.emplace_back(Shape{DType::f32, {16, 784}});
    inputs[1].arrays.emplace_back(Shape{DType::f32, {784, 256}});
    inputs[2].arrays.emplace_back(Shape{DType::f32, {256, 10}});
    double least = 1;
    for (int i = 0; i < 100; ++i) {
        engine.run(executable, inputs);
        least = std::min(least, seconds(engine.times().end - engine.times().begin));
    }
    return least;
}

double measuring_seconds(Explainer& explainer, const Executable& executable) {
    constexpr int steps = 500;
    double least = 1;
    std::int64_t step = 0;
    for (int round = 0; round < 20; ++round) {
        const Tick begin = system_clock().tick();
        for (int i = 0; i < steps; ++i) {
            for (const Phase phase : {Phase::input_wait, Phase::transfer_to_device, Phase::execute,
                                      Phase::transfer_from_device})
                const auto timed = explainer.time(phase);
            explainer.wants_timeline();
            explainer.ran(executable, {.begin = begin, .end = begin});
            explainer.stepped(++step);
            explainer.due();
        }
        least = std::min(least, seconds(system_clock().tick() - begin) / steps);
    }
    return least;
}

void run() {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / fmt::format("explainer_cost_{}", getpid());
    std::filesystem::create_directories(folder);
    Engine engine({.cores = 8, .workers = 2});
    const auto executable = engine.compile(small_step());
    const double step_s = step_seconds(engine, *executable);
    Explainer explainer(engine,
                        {.folder = folder, .started = system_clock().tick(), .bottleneck = {}},
                        system_clock());
    const double cost_s = measuring_seconds(explainer, *executable);
    std::filesystem::remove_all(folder);
    fmt::print("step {:.1f} us, measuring {:.2f} us: {:.2f} %\n", step_s * 1e6, cost_s * 1e6,
               cost_s / step_s * 100);
}

}    // namespace
}    // namespace slipway

int main() {
    slipway::run();
}
