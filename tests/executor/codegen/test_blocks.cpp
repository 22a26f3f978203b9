// Sums over more cores than a block has (docs/decisions/0062).
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <thread>
#include <vector>

#include "executor/autodiff/gradients.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
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

class Blocks : public testing::TestWithParam<Graph (*)()> {};

TEST_P(Blocks, have_the_same_bits_on_any_number_of_workers) {
    const Graph graph = GetParam()();
    for (const int cores : {12, 16, 32}) {
        const auto inputs = random_inputs(graph, cores, 5);
        const auto once = run_graph(graph, inputs, {cores, 1});
        const auto expected = evaluate(graph, inputs, cores);
        for (std::size_t i = 0; i < expected.size(); ++i)
            EXPECT_EQ(difference(once[i], expected[i], sum_tolerance(300 * cores)), "");
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

INSTANTIATE_TEST_SUITE_P(Graphs, Blocks, testing::Values(&mixed_graph, &convolution_graph),
                         [](const auto& test) {
                             return std::string(test.index == 0 ? "products" : "convolutions");
                         });

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
