// Sums over more cores than a block has (docs/decisions/0062).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <thread>
#include <vector>

#include "executor/autodiff/gradients.h"
#include "executor/codegen/lower.h"
#include "executor/graph/node.h"
#include "executor/graph/ops.h"
#include "executor/tensor/bfloat16.h"
#include "tests/executor/codegen/run_graph.h"
#include "tests/executor/runtime/linked_processes.h"

namespace slipway {
namespace {

Tensor core_input(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}

Tensor shared_input(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::replicated, "w");
}

/// A step as of a language model: gradients that are products of all cores' rows, one with
/// look-ups added to it, one of many rows that is not, a statistic that the next stage uses, and
/// what is chosen by the largest value.
Graph mixed_graph() {
    const DotAttributes over_rows{{}, {}, {0}, {0}};
    const Tensor w = shared_input({64, 40});
    const Tensor x = core_input({6, 64}), dy = core_input({6, 40}), many = core_input({300, 8});
    const Tensor words = input({DType::i32, {3, 2}}, Placement::per_core, "words");
    const Tensor mean = all_reduce(reduce(x, {0, 1}, Reduction::add)) * constant(1.0 / 6144);
    const Tensor hidden = tanh(matmul(x - mean, w));
    const Tensor table =
        scatter_add(dot_general(dy, x, over_rows), words, tanh(core_input({3, 2, 64})));
    return graph_of({all_reduce(dot_general(x, hidden * dy, over_rows)) * constant(0.5) + w,
                     all_reduce(table), all_reduce(dot_general(many, many, over_rows)),
                     all_reduce(reduce(hidden, {0, 1}, Reduction::add)),
                     all_reduce(reduce(hidden, {0}, Reduction::maximum), Reduction::maximum)});
}

/// A step as of a network of convolutions: gradients of weights that are made of all cores' images,
/// two of one stage, and convolutions that replicas run together.
Graph convolution_graph() {
    const Tensor w = shared_input({64, 64, 3, 3}), v = shared_input({64, 64, 3, 3});
    const Tensor x = tanh(core_input({1, 64, 2, 2}));
    const Tensor y = tanh(convolution_2d(x, w, 1, 1));
    const Tensor z = convolution_2d(y, v, 1, 1);
    const std::vector<Tensor> weights{w, v};
    std::vector<Tensor> outputs{all_reduce(reduce(z, {0, 2, 3}, Reduction::add))};
    for (const Tensor& gradient : gradients(reduce(z * z, {0, 1, 2, 3}, Reduction::add), weights))
        outputs.push_back(all_reduce(gradient) * constant(0.5));
    return graph_of(outputs);
}

/// The same, but that sums of f32 that are outputs, or all that one is made of, have an exchange
/// type.
Tensor exchanged(const Tensor& output) {
    const Node& node = output.node();
    const auto* sum = std::get_if<AllReduceAttributes>(&node.attributes);
    if (sum != nullptr && sum->reduction == Reduction::add)
        return all_reduce(node.operands[0], Reduction::add, DType::bf16);
    if (node.placement == Placement::per_core) return output;
    std::vector<Tensor> operands;
    for (const Tensor& operand : node.operands)
        operands.push_back(exchanged(operand));
    return operands.empty() ? output : with_operands(output, std::move(operands));
}

/// As the gradients of a slice whose hosts exchange them as bf16.
Graph with_exchange(Graph graph) {
    for (Tensor& output : graph.outputs)
        output = exchanged(output);
    return graph;
}

Graph exchanged_products() {
    return with_exchange(mixed_graph());
}

Graph exchanged_convolutions() {
    return with_exchange(convolution_graph());
}

/// The values of cores first..first+count-1.
std::vector<ReferenceValue> part_of(const Graph& graph, const std::vector<ReferenceValue>& inputs,
                                    int first, int count) {
    std::vector<ReferenceValue> part = inputs;
    for (std::size_t i = 0; i < part.size(); ++i)
        if (graph.inputs[i].node().placement == Placement::per_core)
            part[i] = {inputs[i].begin() + first, inputs[i].begin() + first + count};
    return part;
}

void expect_equal(const std::vector<ReferenceValue>& actual,
                  const std::vector<ReferenceValue>& expected, const std::string& what) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_EQ(difference(actual[i], expected[i], exactly), "") << what << ", output " << i;
}

bool exchanges(const Graph& graph) {
    return std::ranges::any_of(topological_order(graph), [](const Tensor& tensor) {
        const auto* sum = std::get_if<AllReduceAttributes>(&tensor.node().attributes);
        return sum != nullptr && sum->exchange.has_value();
    });
}

/// What is nearly between two numbers of bf16 may be rounded to either.
Tolerance tolerance_of(const Graph& graph, int cores) {
    Tolerance tolerance = sum_tolerance(300 * cores);
    if (!exchanges(graph)) return tolerance;
    tolerance.absolute += std::sqrt(300.0 * cores) / 128;
    tolerance.relative += 1.0 / 128;
    return tolerance;
}

class Blocks : public testing::TestWithParam<Graph (*)()> {};

TEST_P(Blocks, have_the_same_bits_on_any_number_of_workers) {
    const Graph graph = GetParam()();
    for (const int cores : {12, 16, 32}) {
        const auto inputs = random_inputs(graph, cores, 5);
        const auto once = run_graph(graph, inputs, {cores, 1});
        const auto expected = evaluate(graph, inputs, cores);
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(difference(once[i], expected[i], tolerance_of(graph, cores)), "");
        for (const int workers : {2, 3, 8, 11})
            expect_equal(run_graph(graph, inputs, {cores, workers}), once,
                         fmt::format("{} cores, {} workers", cores, workers));
    }
}

// Goal: a slice's bits are those of all its replicas in one process, in every process.
TEST_P(Blocks, have_the_same_bits_in_one_process_and_in_several) {
    const Graph graph = GetParam()();
    for (const int processes : {2, 4})
        for (const std::int64_t bucket_bytes : {0, 1}) {
            const int cores = block_cores * processes;
            const auto inputs = random_inputs(graph, cores, 7);
            const auto before = random_inputs(graph, cores, 4711);
            const auto whole = run_graph(graph, inputs, {cores, 2}, before, bucket_bytes);
            LinkedProcesses linked(processes);
            std::vector<std::jthread> threads;
            for (int rank = 0; rank < processes; ++rank)
                threads.emplace_back([&, rank] {
                    LinkedProcesses::Member member(linked, rank);
                    const int first = rank * block_cores;
                    const auto outputs = run_graph(
                        graph, part_of(graph, inputs, first, block_cores),
                        {block_cores, 1 + rank % 2}, part_of(graph, before, first, block_cores),
                        bucket_bytes, &member);
                    expect_equal(outputs, whole, fmt::format("rank {} of {}", rank, processes));
                });
        }
}

std::string name_of(const testing::TestParamInfo<Graph (*)()>& test) {
    constexpr std::array names{"products", "convolutions", "exchanged_products",
                               "exchanged_convolutions"};
    return names[test.index];
}

INSTANTIATE_TEST_SUITE_P(Graphs, Blocks,
                         testing::Values(&mixed_graph, &convolution_graph, &exchanged_products,
                                         &exchanged_convolutions),
                         &name_of);

// Goal: what is exchanged as bf16 is rounded, and what is not is as it was.
TEST(BlocksExchanged, round_the_sums_that_say_so) {
    const Graph plain = mixed_graph(), exchanged = exchanged_products();
    const auto inputs = random_inputs(plain, 16, 5);
    const auto sums = run_graph(plain, inputs, {16, 2}),
               rounded = run_graph(exchanged, inputs, {16, 2});
    EXPECT_NE(difference(rounded[1], sums[1], exactly), "");
    for (const float value : rounded[1][0].as<float>())
        ASSERT_EQ(value, float(BFloat16(value)));
    EXPECT_EQ(difference(rounded[4], sums[4], exactly), "");
    const auto of_eight = random_inputs(plain, 8, 5);
    EXPECT_EQ(difference(run_graph(exchanged, of_eight, {8, 2})[1],
                         run_graph(plain, of_eight, {8, 2})[1], exactly),
              "");
}

// Goal: what a job of eight cores computes is as it was before there were blocks.
TEST(BlockSteps, are_of_more_than_one_block) {
    const Graph graph = mixed_graph();
    const auto steps = [&](bool in_blocks) {
        std::size_t count = 0;
        for (const Stage& stage : lower(graph, {.in_blocks = in_blocks}).stages)
            count += stage.block_step_count;
        return count;
    };
    EXPECT_EQ(steps(false), 0u);
    EXPECT_EQ(steps(true), 3u);
}

}    // namespace
}    // namespace slipway
