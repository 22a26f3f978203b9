#include "tests/executor/codegen/run_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "executor/codegen/jit/kernel_store.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/lowering.h"
#include "executor/runtime/run.h"

namespace slipway {

namespace {

void fill(Array& array, std::mt19937_64& random) {
    const auto fill_with = [&]<class T>(auto&& draw) {
        for (T& value : array.as<T>())
            value = draw();
    };
    switch (array.shape().dtype) {
        case DType::f32:
            return fill_with.operator()<float>(
                [&] { return std::uniform_real_distribution<float>(-1, 1)(random); });
        case DType::f64:
            return fill_with.operator()<double>(
                [&] { return std::uniform_real_distribution<double>(-1, 1)(random); });
        case DType::bf16:
            return fill_with.operator()<BFloat16>(
                [&] { return BFloat16(std::uniform_real_distribution<float>(-1, 1)(random)); });
        case DType::u32:
            return fill_with.operator()<std::uint32_t>([&] { return std::uint32_t(random()); });
        case DType::i32:
            return fill_with.operator()<std::int32_t>([&] { return std::int32_t(random() % 10); });
        case DType::i64:
            return fill_with.operator()<std::int64_t>([&] { return std::int64_t(random() % 10); });
        case DType::u8:
            return fill_with.operator()<std::uint8_t>([&] { return std::uint8_t(random() % 10); });
        case DType::pred:
            return fill_with.operator()<bool>([&] { return random() % 2 == 0; });
    }
}

double number_at(const Array& array, std::size_t i) {
    switch (array.shape().dtype) {
        case DType::f32:
            return double(array.as<float>()[i]);
        case DType::f64:
            return array.as<double>()[i];
        case DType::bf16:
            return double(float(array.as<BFloat16>()[i]));
        case DType::u32:
            return double(array.as<std::uint32_t>()[i]);
        case DType::i32:
            return double(array.as<std::int32_t>()[i]);
        case DType::i64:
            return double(array.as<std::int64_t>()[i]);
        case DType::u8:
            return double(array.as<std::uint8_t>()[i]);
        case DType::pred:
            return double(array.as<bool>()[i]);
    }
    return 0;
}

bool is_close(double a, double b, Tolerance tolerance) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return true;
    return std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b);
}

std::vector<std::byte*> addresses_of(ReferenceValue& value) {
    std::vector<std::byte*> addresses;
    for (Array& array : value)
        addresses.push_back(array.bytes());
    return addresses;
}

std::vector<ReferenceValue> run_once(Runtime& runtime, const Program& program,
                                     const std::vector<ReferenceValue>& inputs) {
    std::vector<ReferenceValue> bound;
    for (const ReferenceValue& input : inputs) {
        bound.emplace_back();
        for (const Array& array : input)
            bound.back().push_back(array.clone());
    }
    std::vector<ReferenceValue> outputs;
    for (const Slot& slot : program.outputs) {
        ReferenceValue& output = outputs.emplace_back();
        if (slot.donated)
            output = bound[*slot.donated];
        else
            for (int core = 0; core < (slot.per_core ? runtime.team().cores : 1); ++core)
                output.emplace_back(slot.shape);
    }
    Bindings bindings;
    for (ReferenceValue& input : bound)
        bindings.inputs.push_back(addresses_of(input));
    for (ReferenceValue& output : outputs)
        bindings.outputs.push_back(addresses_of(output));
    runtime.run(program, make_run_plan(program, runtime.team()), bindings);
    return outputs;
}

}    // namespace

std::vector<ReferenceValue> random_inputs(const Graph& graph, int cores, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<ReferenceValue> inputs;
    for (const Tensor& input : graph.inputs) {
        ReferenceValue& value = inputs.emplace_back();
        const int count = input.node().placement == Placement::per_core ? cores : 1;
        for (int core = 0; core < count; ++core)
            fill(value.emplace_back(input.shape()), random);
    }
    return inputs;
}

std::vector<ReferenceValue> run_graph(const Graph& graph, const std::vector<ReferenceValue>& inputs,
                                      const Team& team) {
    return run_graph(graph, inputs, team, random_inputs(graph, team.cores, 4711));
}

std::vector<ReferenceValue> run_graph(const Graph& graph, const std::vector<ReferenceValue>& inputs,
                                      const Team& team, const std::vector<ReferenceValue>& before,
                                      std::int64_t bucket_bytes, Collectives* collectives) {
    // One store for all tests of the process: equal kernels are compiled once.
    static const auto kernels = std::make_shared<KernelStore>();
    const bool in_blocks = team.cores > block_cores || collectives != nullptr;
    const LowerOptions options{
        .workers = team.workers, .cores = team.cores, .in_blocks = in_blocks, .kernels = kernels};
    const Program program =
        bucket_bytes > 0 ? Lowering(graph, options, bucket_bytes).run() : lower(graph, options);
    EXPECT_THAT(find_problems(program), testing::IsEmpty());
    Runtime runtime(team, {}, collectives);
    run_once(runtime, program, before);
    return run_once(runtime, program, inputs);
}

Tolerance sum_tolerance(std::int64_t count) {
    constexpr double eps = 1.2e-7;
    return {.absolute = 2 * eps * double(count + 1), .relative = 2 * eps};
}

std::string difference(const ReferenceValue& a, const ReferenceValue& b, Tolerance tolerance) {
    if (a.size() != b.size()) return fmt::format("{} arrays, not {}", a.size(), b.size());
    for (std::size_t core = 0; core < a.size(); ++core) {
        if (a[core].shape() != b[core].shape())
            return fmt::format("{}, not {}", to_string(a[core].shape()),
                               to_string(b[core].shape()));
        for (std::size_t i = 0; i < std::size_t(a[core].element_count()); ++i) {
            const double x = number_at(a[core], i);
            const double y = number_at(b[core], i);
            if (!is_close(x, y, tolerance))
                return fmt::format("core {}, element {}: {}, not {}", core, i, x, y);
        }
    }
    return "";
}

void expect_same_bits_on_any_workers(const Graph& graph,
                                     const std::vector<ReferenceValue>& inputs) {
    const auto once = run_graph(graph, inputs, {8, 1});
    for (const int workers : {2, 3, 4, 8}) {
        const auto again = run_graph(graph, inputs, {8, workers});
        for (std::size_t i = 0; i < once.size(); ++i)
            EXPECT_EQ(difference(again[i], once[i], exactly), "") << workers << " workers";
    }
}

std::string compare_with_reference(const Graph& graph, Tolerance tolerance, std::uint64_t seed) {
    struct Way {
        Team team;
        std::int64_t bucket_bytes;
    };
    for (const auto& [team, bucket_bytes] : {Way{{1, 1}, 0}, Way{{4, 2}, 0}, Way{{4, 2}, 1}}) {
        const auto inputs = random_inputs(graph, team.cores, seed);
        const auto expected = evaluate(graph, inputs, team.cores);
        const auto actual =
            run_graph(graph, inputs, team, random_inputs(graph, team.cores, 4711), bucket_bytes);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::string problem = difference(actual[i], expected[i], tolerance);
            if (!problem.empty())
                return fmt::format("seed {}, {} cores, bucket of {}, output {}: {}", seed,
                                   team.cores, bucket_bytes, i, problem);
        }
    }
    return "";
}

Graph graph_of(std::vector<Tensor> outputs) {
    Graph graph{{}, std::move(outputs), {}};
    for (const Tensor& tensor : topological_order(graph.outputs))
        if (tensor.node().op == OpCode::input) graph.inputs.push_back(tensor);
    return graph;
}

}    // namespace slipway
