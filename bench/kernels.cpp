#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include "executor/autodiff/gradients.h"
#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "executor/runtime/run.h"

/// How fast the fused kernels of usual layers are: bytes that must be read and written at least,
/// over the time of one run on one thread, beside a sum of two arrays (triad) in the same process.
/// usage: bench_kernels [--steps]   --steps: print the programs
namespace slipway {
namespace {

/// What the process itself worked: waiting for a busy machine does not count.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

double seconds_of(const auto& work) {
    const double begin = cpu_seconds();
    work();
    return cpu_seconds() - begin;
}

double best_of(int rounds, const auto& work) {
    double best = 1e9;
    for (int i = 0; i < rounds; ++i)
        best = std::min(best, seconds_of(work));
    return best;
}

Tensor input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::replicated, "x");
}

Graph graph_of(std::vector<Tensor> outputs) {
    Graph graph{{}, std::move(outputs), {}};
    for (const Tensor& tensor : topological_order(graph.outputs))
        if (tensor.node().op == OpCode::input) graph.inputs.push_back(tensor);
    return graph;
}

/// The gradients of sum(y * dy) by x: the backward half alone.
std::vector<Tensor> backward(const Tensor& y, const std::vector<Tensor>& x) {
    Dims all;
    for (std::int64_t i = 0; i < y.shape().rank(); ++i)
        all.push_back(i);
    return gradients(reduce(y * input(y.dims()), all, Reduction::add), x);
}

Graph bias_gelu() {
    const Tensor bias = input({3072});
    const Tensor x = input({4096, 3072});
    return graph_of({gelu(x + broadcast_in_dim(bias, x.dims(), {1}), false)});
}

Graph bias_gelu_backward() {
    const Tensor bias = input({3072});
    const Tensor x = input({4096, 3072});
    return graph_of(backward(gelu(x + broadcast_in_dim(bias, x.dims(), {1}), false), {x, bias}));
}

Graph layer_norm_forward() {
    return graph_of({layer_norm(input({4096, 768}), input({768}), input({768}), 1e-5)});
}

Graph layer_norm_backward() {
    const Tensor x = input({4096, 768});
    const Tensor scale = input({768});
    const Tensor offset = input({768});
    return graph_of(backward(layer_norm(x, scale, offset, 1e-5), {x, scale, offset}));
}

Graph softmax_forward() {
    return graph_of({softmax(input({4096, 1024}))});
}

Graph adamw() {
    const Dims dims{20'000'000};
    const Tensor p = input(dims), g = input(dims), m = input(dims), v = input(dims);
    const Tensor hyper = input({8});
    const auto h = [&](std::int64_t i) { return reshape(slice(hyper, {i}, {i + 1}, {1}), {}); };
    const Tensor average = h(0) * m + h(1) * g;
    const Tensor square = h(2) * v + h(3) * (g * g);
    const Tensor kept = p - (h(7) * h(4)) * p;
    const Tensor next = kept - h(4) * (average / (sqrt(square) * h(5) + h(6)));
    Graph graph{{p, g, m, v, hyper}, {next, average, square}, {{0, 0}, {1, 2}, {2, 3}}};
    return graph;
}

Graph batch_norm_statistics() {
    const Tensor x = input({16, 32, 32, 64});
    const Tensor count = constant(1.0 / (16 * 32 * 32));
    const Tensor mean = reduce(x, {0, 1, 2}, Reduction::add) * count;
    const Tensor centered = x - broadcast_in_dim(mean, x.dims(), {3});
    return graph_of({mean, reduce(centered * centered, {0, 1, 2}, Reduction::add) * count});
}

struct Case {
    std::string_view name;
    Graph (*make)();
    double floats;    ///< read and written at least
};

const Case cases[] = {
    {"bias+gelu [4096,3072]", bias_gelu, 2.0 * 4096 * 3072},
    {"bias+gelu backward", bias_gelu_backward, 3.0 * 4096 * 3072},
    {"layer norm [4096,768]", layer_norm_forward, 2.0 * 4096 * 768},
    {"layer norm backward", layer_norm_backward, 3.0 * 4096 * 768},
    {"softmax [4096,1024]", softmax_forward, 2.0 * 4096 * 1024},
    {"AdamW 20 M", adamw, 7.0 * 20e6},
    {"batch norm statistics", batch_norm_statistics, 2.0 * 16 * 32 * 32 * 64},
};

/// Bytes a second of a = b + c over arrays as large as the case's.
double triad(double floats) {
    const auto n = std::size_t(floats / 3);
    std::vector<float> a(n), b(n, 1.0F), c(n, 2.0F);
    const double seconds = best_of(7, [&] {
        for (std::size_t i = 0; i < n; ++i)
            a[i] = b[i] + c[i];
    });
    return floats * 4 / seconds;
}

void run(const Case& row, bool print_steps) {
    const Graph graph = optimize(row.make()).graph;
    const auto kernels = std::make_shared<KernelStore>();
    Program program;
    const double compile_s =
        seconds_of([&] { program = lower(graph, {.workers = 1, .kernels = kernels}); });
    if (print_steps) fmt::print("{}\n", print(program));
    std::vector<Array> arrays;
    std::mt19937 random(1);
    Bindings bindings;
    for (const Slot& slot : program.inputs) {
        Array& array = arrays.emplace_back(slot.shape);
        for (float& x : array.as<float>())
            x = float(random() >> 8) * 0x1p-24F;
        bindings.inputs.push_back({array.bytes()});
    }
    for (const Slot& slot : program.outputs) {
        if (!slot.donated) arrays.emplace_back(slot.shape);
        bindings.outputs.push_back(slot.donated ? bindings.inputs[*slot.donated]
                                                : std::vector{arrays.back().bytes()});
    }
    Runtime runtime({1, 1});
    const RunPlan plan = make_run_plan(program, runtime.team());
    const double seconds = best_of(15, [&] { runtime.run(program, plan, bindings); });
    fmt::print(
        "{:<24} {:8.3f} ms {:7.1f} GB/s  {:4.0f} % of triad  {} steps, {} kernels in {:.0f} ms\n",
        row.name, 1e3 * seconds, row.floats * 4e-9 / seconds,
        100 * row.floats * 4 / seconds / triad(row.floats), program.steps.size(),
        kernels->compiled(), 1e3 * compile_s);
}

}    // namespace
}    // namespace slipway

int main(int count, char** arguments) {
    const bool print_steps = count > 1 && std::string_view(arguments[1]) == "--steps";
    for (const slipway::Case& row : slipway::cases)
        slipway::run(row, print_steps);
    return 0;
}
