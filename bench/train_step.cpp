#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <random>
#include <string_view>

#include "api/base/clock.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/engine/engine.h"
#include "executor/nn/models/lenet.h"
#include "executor/nn/models/mlp.h"
#include "executor/passes/pipeline.h"
#include "executor/runtime/run.h"
#include "executor/train/step.h"

/// How long a whole training step takes (forward, backward, all_reduce, SGD with momentum) for
/// LeNet and an MLP on 8 cores of 32 samples, on 1 and 2 workers, and what share of the matrix
/// product rate of the same library in the same process that is.
/// usage: bench_train_step [--steps]   --steps: where the time of one worker goes
namespace slipway {
namespace {

constexpr int cores = 8;
constexpr std::int64_t batch = 32;

struct Workload {
    std::string_view name;
    Model model;
    Dims sample_dims;
    double flops = 0;    ///< of one step over all cores: products and convolutions only
};

double seconds_of(const auto& work) {
    const Tick begin = system_clock().tick();
    work();
    return std::chrono::duration<double>(system_clock().tick() - begin).count();
}

/// What the calling thread itself worked: waiting for a busy machine does not count.
double cpu_seconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

struct Timing {
    double best_s = 0, median_s = 0;
};

Timing time_of(int rounds, const auto& work) {
    std::vector<double> times;
    for (int i = 0; i < rounds; ++i)
        times.push_back(seconds_of(work));
    std::ranges::sort(times);
    return {times.front(), times[times.size() / 2]};
}

/// Multiplications and additions of the products in a graph, for one core.
double product_flops(const Tensor& output) {
    double flops = 0;
    for (const Tensor& tensor : topological_order(std::span(&output, 1))) {
        const Node& node = tensor.node();
        if (const auto* dot = std::get_if<DotAttributes>(&node.attributes)) {
            double terms = 1;
            for (const std::int64_t i : dot->lhs_contracting)
                terms *= double(node.operands[0].dims()[std::size_t(i)]);
            flops += 2 * terms * double(node.shape.element_count());
        }
        if (const auto* a = std::get_if<ConvolutionAttributes>(&node.attributes)) {
            const double kernel = double(node.operands[1].shape().element_count());
            const double outputs =
                double(node.operands[1].dims()[std::size_t(a->kernel_layout[0])]);
            flops += 2 * kernel / outputs * double(node.shape.element_count());
        }
    }
    return flops;
}

/// Forward once, gradients of both operands once each; none of the first layer's input.
double step_flops(const Model& model, const Dims& sample_dims, double first_layer) {
    Dims dims = sample_dims;
    dims.insert(dims.begin(), batch);
    const Tensor x = leaf({DType::f32, dims}, Placement::per_core, "x");
    return cores * (3 * product_flops(model.forward(x)) - first_layer);
}

Workload lenet() {
    Workload work{.name = "lenet 28x28", .model = {}, .sample_dims = {1, 28, 28}};
    Init init(1);
    const LeNet net = LeNet::create(work.model.parameters, init,
                                    {.channels = 1, .height = 28, .width = 28, .classes = 10});
    work.model.forward = net;
    work.flops = step_flops(work.model, work.sample_dims, 2.0 * batch * 6 * 28 * 28 * 25);
    return work;
}

Workload mlp() {
    Workload work{.name = "mlp 784-512-512-10", .model = {}, .sample_dims = {784}};
    Init init(1);
    const Mlp net = Mlp::create(work.model.parameters, init, 784, {512, 512}, 10);
    work.model.forward = net;
    work.flops = step_flops(work.model, work.sample_dims, 2.0 * batch * 784 * 512);
    return work;
}

std::vector<Value> leaves_of(const Workload& work, const TrainStep& step) {
    std::vector<Value> leaves;
    for (const Parameter& parameter : work.model.parameters.all())
        leaves.push_back({{parameter.value.clone()}});
    while (leaves.size() < step.state_count())
        leaves.push_back({{Array(step.graph.leaves[leaves.size()].shape())}});
    leaves.push_back(
        {{hyper_values({.lr = 0.01, .momentum = 0.9, .sample_count = cores * batch})}});
    std::mt19937 random(1);
    for (std::size_t i = leaves.size(); i < step.graph.leaves.size(); ++i) {
        Value& value = leaves.emplace_back();
        for (int core = 0; core < cores; ++core) {
            Array& array = value.arrays.emplace_back(step.graph.leaves[i].shape());
            if (array.shape().dtype == DType::i32) {
                for (std::int32_t& label : array.as<std::int32_t>())
                    label = std::int32_t(random() % 10);
            } else {
                for (float& number : array.as<float>())
                    number = std::uniform_real_distribution<float>(0, 1)(random);
            }
        }
    }
    return leaves;
}

/// GFLOP/s of one thread on a matrix product that fits the second-level cache.
double matmul_rate() {
    constexpr std::int64_t n = 512;
    const auto kernel = make_matmul(dense_view({1, n, n}), dense_view({1, n, n}), 1);
    if (!kernel) return 0;
    const Array a({DType::f32, {n, n}}), b({DType::f32, {n, n}});
    Array c({DType::f32, {n, n}});
    Array scratch({DType::u8, {std::max<std::int64_t>(1, kernel->scratch_bytes)}});
    const std::byte* const reads[] = {a.bytes(), b.bytes()};
    std::byte* const writes[] = {c.bytes(), scratch.bytes()};
    const Timing timing = time_of(100, [&] {
        kernel->kernel({.reads = reads, .writes = writes, .begin = 0, .end = 0, .worker = 0});
    });
    return 2.0 * n * n * n / timing.best_s * 1e-9;
}

const Optimizer& optimizer() {
    return find_optimizer("sgd_momentum");
}

void measure(const Workload& work, double rate) {
    const TrainStep step = trace_train_step(work.model, optimizer(), {batch, work.sample_dims});
    double alone_s = 0;
    for (const int workers : {1, 2}) {
        Engine engine({.cores = cores, .workers = workers});
        std::vector<Value> leaves = leaves_of(work, step);
        std::shared_ptr<const Executable> executable;
        const double compile_s = seconds_of([&] { executable = engine.compile(step.graph); });
        for (int i = 0; i < 10; ++i)
            engine.run(*executable, leaves);
        const Timing timing = time_of(200, [&] { engine.run(*executable, leaves); });
        if (workers == 1) alone_s = timing.best_s;
        const double gflops = work.flops / timing.best_s * 1e-9;
        fmt::print(
            "{:20} {} workers  best {:7.2f} ms  median {:7.2f} ms  {:6.1f} GFLOP/s = {:3.0f} % "
            "of matmul  speedup {:.2f}  compile {:.0f} ms  memory {:.1f} MB\n",
            work.name, workers, timing.best_s * 1e3, timing.median_s * 1e3, gflops,
            100 * gflops / (rate * workers), alone_s / timing.best_s, compile_s * 1e3,
            double(engine.memory(*executable).peak_bytes) * 1e-6);
    }
}

/// Where the time goes: the share of each step of the program, on one worker.
void show_steps(const Workload& work) {
    const TrainStep step = trace_train_step(work.model, optimizer(), {batch, work.sample_dims});
    Program program = lower(optimize(step.graph).graph, {.workers = 1});
    const auto spent = std::make_shared<std::vector<double>>(program.steps.size());
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        program.steps[i].kernel = [inner = program.steps[i].kernel, spent,
                                   i](const KernelCall& call) {
            const double begin = cpu_seconds();
            inner(call);
            (*spent)[i] += cpu_seconds() - begin;
        };
    Runtime runtime({cores, 1});
    std::vector<Value> leaves = leaves_of(work, step);
    Bindings bindings;
    for (Value& leaf : leaves) {
        bindings.leaves.emplace_back();
        for (Array& array : leaf.arrays)
            bindings.leaves.back().push_back(array.bytes());
    }
    std::vector<Array> outputs;
    for (const Slot& slot : program.outputs) {
        outputs.push_back(slot.donated ? leaves[*slot.donated].arrays[0] : Array(slot.shape));
        bindings.outputs.push_back({outputs.back().bytes()});
    }
    const RunPlan plan = make_run_plan(program, runtime.team());
    constexpr int rounds = 100;
    runtime.run(program, plan, bindings);
    spent->assign(spent->size(), 0);
    for (int i = 0; i < rounds; ++i)
        runtime.run(program, plan, bindings);
    const double total_s = std::accumulate(spent->begin(), spent->end(), 0.0);
    fmt::print("{}: {:.2f} ms of CPU time per step\n", work.name, total_s / rounds * 1e3);
    for (std::size_t i = 0; i < program.steps.size(); ++i)
        fmt::print("  {:5.1f} %  {:8.1f} us  {}\n", 100 * (*spent)[i] / total_s,
                   (*spent)[i] / rounds * 1e6, program.steps[i].name);
}

}    // namespace
}    // namespace slipway

int main(int count, char** words) {
    const double rate = slipway::matmul_rate();
    fmt::print("matmul 512x512x512, one thread: {:.1f} GFLOP/s\n", rate);
    for (const slipway::Workload& work : {slipway::lenet(), slipway::mlp()}) {
        slipway::measure(work, rate);
        if (count > 1 && std::string_view(words[1]) == "--steps") slipway::show_steps(work);
    }
}
