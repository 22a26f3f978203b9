#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/graph/op_table.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "executor/runtime/run.h"

/// What the heavy operations reach inside a program: for each shape a small step (forward, both
/// gradients, the sum over the cores) is lowered and run on one worker; each step's best time is
/// printed beside the rate of the library's best 512^3 product in the same process. Everything is
/// counted in CPU time of this thread. Also minor page faults per run, which must be none.
/// usage: bench_product_rates [PART OF A WORKLOAD'S NAME]
namespace slipway {
namespace {

double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

std::int64_t minor_faults() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

struct Workload {
    std::string name;
    Graph graph;
    /// Multiplications and additions of each heavy step on one core.
    double flops = 0;
    int cores = 2;
};

/// The operands' type of all workloads; gradients of weights are f32.
struct Types {
    DType operands = DType::f32;

    Tensor core_input(Dims dims) const {
        return input({operands, std::move(dims)}, Placement::per_core, "x");
    }
    Tensor shared_input(Dims dims) const {
        return input({operands, std::move(dims)}, Placement::replicated, "w");
    }
};

/// The product that `gradient` is, perhaps seen transposed, with an f32 result.
Tensor summed_in_f32(const Tensor& gradient) {
    const Node& node = gradient.node();
    if (const auto* dot = std::get_if<DotAttributes>(&node.attributes)) {
        DotAttributes attributes = *dot;
        attributes.result = DType::f32;
        return dot_general(node.operands[0], node.operands[1], std::move(attributes));
    }
    if (const auto* convolved = std::get_if<ConvolutionAttributes>(&node.attributes)) {
        ConvolutionAttributes attributes = *convolved;
        attributes.result = DType::f32;
        return convolution(node.operands[0], node.operands[1], std::move(attributes));
    }
    if (const auto* transposed = std::get_if<TransposeAttributes>(&node.attributes))
        return transpose(summed_in_f32(node.operands[0]), transposed->permutation);
    return gradient;
}

Graph graph_of(std::vector<Tensor> outputs) {
    Graph graph{{}, std::move(outputs), {}};
    for (const Tensor& tensor : topological_order(graph.outputs))
        if (tensor.node().op == OpCode::input) graph.inputs.push_back(tensor);
    return graph;
}

/// y of x and w, and its gradients over them; the weights' summed over the cores.
Graph training_graph(const Types& types, const Tensor& y) {
    const Tensor dy = types.core_input(y.dims());
    const auto gradient = row_of(y.node().op).gradient(y, dy);
    return graph_of({y, gradient[0], all_reduce(summed_in_f32(gradient[1]))});
}

/// y = x w^T, as Linear does.
Workload linear(const Types& types, std::string name, const std::array<std::int64_t, 3>& extents) {
    const auto [rows, in, out] = extents;
    const Tensor x = types.core_input({rows, in});
    const Tensor w = types.shared_input({out, in});
    return {std::move(name), training_graph(types, dot_general(x, w, {{}, {}, {1}, {1}})),
            2.0 * double(rows) * double(in) * double(out)};
}

struct ConvolutionSize {
    std::int64_t batch, in, extent, out, window, stride, padding;
};

/// [n, c, h, w] that lies channels-last, as between two layers.
Tensor image(const Types& types, const Dims& dims) {
    return transpose(types.core_input({dims[0], dims[2], dims[3], dims[1]}), {0, 3, 1, 2});
}

Tensor channels_last(const Tensor& x) {
    return transpose(x, {0, 2, 3, 1});
}

Workload convolve(const Types& types, std::string name, const ConvolutionSize& s) {
    const Tensor x = image(types, {s.batch, s.in, s.extent, s.extent});
    const Tensor w = types.shared_input({s.out, s.in, s.window, s.window});
    const Tensor y = convolution_2d(x, w, s.stride, s.padding);
    const Tensor dy = image(types, y.dims());
    const auto gradient = row_of(OpCode::convolution).gradient(y, dy);
    const double positions = double(y.shape().element_count()) / double(s.out);
    return {std::move(name),
            graph_of({channels_last(y), channels_last(gradient[0]),
                      all_reduce(summed_in_f32(gradient[1]))}),
            2.0 * positions * double(s.out * s.in * s.window * s.window)};
}

/// The products of attention and their gradients over q, k, v that lie as [batch, tokens, heads,
/// depth].
Workload attention(const Types& types, std::string name,
                   const std::array<std::int64_t, 4>& extents) {
    const auto [batch, heads, tokens, depth] = extents;
    const Dims lying{batch, tokens, heads, depth};
    const auto split = [&] { return transpose(types.core_input(lying), {0, 2, 1, 3}); };
    const Tensor q = split(), k = split(), v = split();
    const Tensor scores = dot_general(q, k, {{0, 1}, {0, 1}, {3}, {3}});
    const Tensor weights = types.core_input(scores.dims());
    const Tensor context = dot_general(weights, v, {{0, 1}, {0, 1}, {3}, {2}});
    const auto of_context = row_of(OpCode::dot_general).gradient(context, split());
    const auto of_scores =
        row_of(OpCode::dot_general).gradient(scores, types.core_input(scores.dims()));
    const auto merged = [](const Tensor& x) { return transpose(x, {0, 2, 1, 3}); };
    return {std::move(name),
            graph_of({scores, merged(context), of_context[0], merged(of_context[1]),
                      merged(of_scores[0]), merged(of_scores[1])}),
            2.0 * double(batch * heads * tokens * tokens * depth)};
}

/// Maximum over 3x3 windows, and its gradient. No products: only times are shown.
Workload pool(const Types& types, std::string name, const Dims& dims) {
    const WindowDimension side{.size = 3, .stride = 2, .padding_low = 1, .padding_high = 1};
    const std::vector<WindowDimension> window{{}, {}, side, side};
    const Tensor x = image(types, dims);
    const Tensor y = reduce_window(x, window, Reduction::maximum);
    const Tensor dx = select_and_scatter(x, image(types, y.dims()), window);
    return {std::move(name), graph_of({channels_last(y), channels_last(dx)}), 0};
}

std::vector<Workload> workloads(const Types& types) {
    return {linear(types, "mlp 784-512", {64, 784, 512}),
            linear(types, "bert_small ff1", {2048, 256, 1024}),
            linear(types, "bert_base qkv", {512, 768, 768}),
            linear(types, "bert_base ff1", {512, 768, 3072}),
            linear(types, "bert_base ff2", {512, 3072, 768}),
            linear(types, "gpt2 ff1", {128, 768, 3072}),
            linear(types, "gpt2 ff2", {128, 3072, 768}),
            linear(types, "gpt2 head", {128, 768, 50257}),
            attention(types, "bert_base attention", {4, 12, 128, 64}),
            attention(types, "gpt_small attention", {8, 6, 256, 64}),
            convolve(types, "cnn conv2", {64, 32, 14, 64, 3, 1, 1}),
            convolve(types, "resnet34 conv1", {16, 3, 128, 64, 7, 2, 3}),
            convolve(types, "resnet34 layer1", {16, 64, 32, 64, 3, 1, 1}),
            convolve(types, "resnet34 layer2 first", {16, 64, 32, 128, 3, 2, 1}),
            convolve(types, "resnet34 layer2", {16, 128, 16, 128, 3, 1, 1}),
            convolve(types, "resnet34 layer3", {16, 256, 8, 256, 3, 1, 1}),
            convolve(types, "resnet34 layer4 first", {16, 256, 8, 512, 3, 2, 1}),
            convolve(types, "resnet34 layer4", {16, 512, 4, 512, 3, 1, 1}),
            convolve(types, "resnet34 shortcut", {16, 64, 32, 128, 1, 2, 0}),
            pool(types, "resnet34 pool", {16, 64, 64, 64})};
}

void fill(Array& array, std::mt19937& random) {
    std::uniform_real_distribution<float> number(-1, 1);
    if (array.shape().dtype == DType::bf16) {
        for (BFloat16& element : array.as<BFloat16>())
            element = BFloat16(number(random));
        return;
    }
    for (float& element : array.as<float>())
        element = number(random);
}

std::vector<std::vector<Array>> random_inputs(const Graph& graph, int cores) {
    std::mt19937 random(1);
    std::vector<std::vector<Array>> inputs;
    for (const Tensor& input : graph.inputs) {
        std::vector<Array>& arrays = inputs.emplace_back();
        const bool per_core = input.node().placement == Placement::per_core;
        for (int core = 0; core < (per_core ? cores : 1); ++core)
            fill(arrays.emplace_back(input.shape()), random);
    }
    return inputs;
}

struct StepTime {
    double best_s = 1e9;
    double last_s = 0;    ///< of one run, over all cores
};

/// Wraps every kernel so that its CPU time is kept.
std::vector<StepTime>& watch(Program& program, std::vector<StepTime>& times) {
    times.resize(program.steps.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        program.steps[i].kernel = [inner = program.steps[i].kernel, &times,
                                   i](const KernelCall& call) {
            const double begin = cpu_seconds();
            inner(call);
            times[i].last_s = cpu_seconds() - begin;
            times[i].best_s = std::min(times[i].best_s, times[i].last_s);
        };
    return times;
}

bool is_heavy(std::string_view name) {
    return name.starts_with("dot_general") || name.starts_with("convolution");
}

void measure(const Workload& work, double library_rate) {
    Program program = lower(optimize(work.graph).graph, {.workers = 1});
    std::vector<StepTime> times;
    watch(program, times);
    Runtime runtime({work.cores, 1});
    std::vector<std::vector<Array>> inputs = random_inputs(work.graph, work.cores);
    std::vector<std::vector<Array>> outputs;
    for (const Slot& slot : program.outputs)
        for (int core = 0; core < (slot.per_core ? work.cores : 1); ++core) {
            if (core == 0) outputs.emplace_back();
            outputs.back().emplace_back(slot.shape);
        }
    Bindings bindings;
    const auto bind = [](std::vector<std::vector<Array>>& values, auto& addresses) {
        for (auto& arrays : values) {
            addresses.emplace_back();
            for (Array& array : arrays)
                addresses.back().push_back(array.bytes());
        }
    };
    bind(inputs, bindings.inputs);
    bind(outputs, bindings.outputs);
    const RunPlan plan = make_run_plan(program, runtime.team());
    for (int i = 0; i < 3; ++i)
        runtime.run(program, plan, bindings);
    const std::int64_t faults = minor_faults();
    int rounds = 0;
    double spent = 0;
    for (; rounds < 3 || (rounds < 200 && spent < 0.5); ++rounds) {
        const Tick start = system_clock().tick();
        runtime.run(program, plan, bindings);
        spent += std::chrono::duration<double>(system_clock().tick() - start).count();
    }
    fmt::print("{}: {} runs, {} page faults\n", work.name, rounds, minor_faults() - faults);
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        const double seconds = times[i].best_s;
        const bool heavy = is_heavy(program.steps[i].name);
        const double rate = work.flops / seconds * 1e-9;
        fmt::print("    {:9.1f} us  {}{}\n", seconds * 1e6, program.steps[i].name,
                   heavy
                       ? fmt::format("  {:.0f} GFLOP/s = {:.0f} %", rate, 100 * rate / library_rate)
                       : "");
    }
}

/// GFLOP/s of one thread on a product that fits the second-level cache, packed.
double library_rate(DType dtype) {
    constexpr std::int64_t n = 512;
    const View square = dense_view({1, n, n});
    const auto kernel = make_matmul({.lhs = square,
                                     .rhs = square,
                                     .result = square,
                                     .operands = dtype,
                                     .results = dtype,
                                     .packs_rhs = true},
                                    1);
    if (!kernel) return 1;
    const Array a({DType::f32, {n, n}}), b({DType::f32, {2, n, n}});
    Array c({DType::f32, {n, n}});
    Array scratch({DType::u8, {std::max<std::int64_t>(1, kernel->scratch_bytes)}});
    const std::byte* const reads[] = {a.bytes(), b.bytes()};
    std::byte* const writes[] = {c.bytes(), scratch.bytes()};
    double best = 1e9;
    for (int i = 0; i < 200; ++i) {
        const double begin = cpu_seconds();
        kernel->kernel({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = 0});
        best = std::min(best, cpu_seconds() - begin);
    }
    return 2.0 * n * n * n / best * 1e-9;
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    using namespace slipway;
    const std::string_view filter = count > 1 ? words[1] : "";
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const double rate = library_rate(dtype);
        fmt::print("{}: library, 512x512x512 packed, one thread: {:.0f} GFLOP/s\n",
                   to_string(dtype), rate);
        for (const Workload& work : workloads({dtype}))
            if (work.name.find(filter) != std::string::npos) measure(work, rate);
    }
}
