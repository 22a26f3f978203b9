// Goal: in the stage of the updates a gradient is made right before its update, and the largest one
// is not held while others are made.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr std::int64_t rows = 4, features = 64, layer_count = 4;

struct Training {
    std::vector<Tensor> gradients, updates;
    Graph graph;
};

/// Weights with the gradients of all cores' rows. What is added to the first one's comes last of
/// all, as look-ups of a table that is the output layer as well.
Training make_training(bool by_norm) {
    const auto of_core = [](Dims dims) {
        return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
    };
    const DotAttributes over_rows{{}, {}, {0}, {0}};
    Training training;
    Tensor x = of_core({rows, features});
    Tensor table_gradient = dot_general(x, of_core({rows, features}), over_rows);
    for (std::int64_t i = 0; i < layer_count; ++i) {
        const Tensor next = tanh(
            matmul(x, input({DType::f32, {features, features}}, Placement::replicated, "frozen")));
        training.gradients.push_back(all_reduce(dot_general(x, next, over_rows)));
        x = next;
    }
    const Tensor words = input({DType::i32, {rows}}, Placement::per_core, "words");
    table_gradient = scatter_add(table_gradient, words, x);
    training.gradients.insert(training.gradients.begin(), all_reduce(table_gradient));
    Tensor norm = constant(1.0);
    if (by_norm)
        for (const Tensor& gradient : training.gradients)
            norm = norm + reduce(gradient * gradient, {0, 1}, Reduction::add);
    std::vector<Tensor> weights;
    for (const Tensor& gradient : training.gradients) {
        weights.push_back(input({DType::f32, {features, features}}, Placement::replicated, "w"));
        const Tensor scale =
            by_norm ? broadcast_in_dim(rsqrt(norm), gradient.dims(), {}) : constant(0.25);
        training.updates.push_back(weights.back() - gradient * scale);
    }
    training.graph = graph_of(training.updates);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto input = std::ranges::find(training.graph.inputs, weights[i]);
        training.graph.donations.push_back(
            {.output = i, .input = std::size_t(input - training.graph.inputs.begin())});
    }
    return training;
}

std::int64_t shared_bytes(const Graph& graph) {
    return lower(graph, {.workers = 2, .cores = 8}).arena_bytes[std::size_t(Region::shared)];
}

TEST(ReplicatedOrder, holds_one_gradient_at_a_time) {
    const Training training = make_training(false);
    const std::int64_t gradient_bytes = features * features * 4;
    EXPECT_LT(shared_bytes(training.graph), 2 * gradient_bytes + gradient_bytes / 2);
    const Fusion fusion = fuse(training.graph, analyse(training.graph));
    const auto place = [&](const Tensor& tensor) {
        return std::ranges::find(fusion.order, tensor) - fusion.order.begin();
    };
    const Tensor& added_to = training.gradients[0].node().operands[0];
    const auto made = place(added_to.node().operands[0]), used = place(training.updates[0]);
    for (std::size_t i = 1; i < training.gradients.size(); ++i) {
        const auto other = place(training.gradients[i].node().operands[0]);
        EXPECT_TRUE(other < made || other > used) << i;
    }
}

TEST(ReplicatedOrder, makes_all_that_a_norm_reads_first) {
    const Training training = make_training(true);
    EXPECT_GE(shared_bytes(training.graph), (layer_count + 1) * features * features * 4);
    EXPECT_EQ(compare_with_reference(training.graph, sum_tolerance(features), 3), "");
}

TEST(ReplicatedOrder, computes_what_the_reference_says) {
    EXPECT_EQ(compare_with_reference(make_training(false).graph, sum_tolerance(features), 3), "");
}

TEST(ReplicatedOrder, has_the_same_bits_on_any_number_of_workers) {
    for (const bool by_norm : {false, true}) {
        const Graph graph = make_training(by_norm).graph;
        const auto inputs = random_inputs(graph, 8, 5);
        expect_same_bits_on_any_workers(graph, inputs);
    }
}

}    // namespace
}    // namespace slipway
