#include <gtest/gtest.h>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "tests/executor/passes/pooled_values.h"

namespace slipway {
namespace {

const std::vector<WindowDimension> overlapping{
    {}, {}, {.size = 3, .stride = 2, .padding_low = 1}, {.size = 2, .stride = 1}};

Tensor image(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}

/// Pooled relu(x + bias) and its gradients over x and bias, as training has them.
Graph pooled_activation(const Tensor& bias, Dims bias_dimensions) {
    const Tensor x = image({2, 3, 7, 6});
    const Tensor sum = x + broadcast_in_dim(bias, x.dims(), std::move(bias_dimensions));
    const Tensor pooled = reduce_window(relu(sum), overlapping, Reduction::maximum);
    const Tensor weights = image(pooled.dims());
    const Tensor loss = reduce(pooled * weights, {0, 1, 2, 3}, Reduction::add);
    const auto flows = gradients(loss, {{x, bias}});
    const Graph traced{{x, bias, weights}, {pooled, flows[0], flows[1]}, {}};
    return mask_pooled(merge_common(simplify_algebra(traced)));
}

Graph pooled_activation() {
    return pooled_activation(input({DType::f32, {3}}, Placement::replicated, "bias"), {1});
}

int count(const Graph& graph, OpCode op, const Dims& dims) {
    int found = 0;
    for (const Tensor& tensor : topological_order(graph))
        found += tensor.node().op == op && tensor.dims() == dims ? 1 : 0;
    return found;
}

TEST(PoolFirst, bias_and_relu_are_of_pooled_values) {
    const Graph before = pooled_activation(), after = pool_first(before);
    const Dims whole{2, 3, 7, 6}, pooled = after.outputs[0].dims();
    EXPECT_EQ(count(before, OpCode::add, whole), 1);
    EXPECT_EQ(count(after, OpCode::add, whole), 0);
    EXPECT_EQ(count(after, OpCode::maximum, whole), 0);
    EXPECT_EQ(count(after, OpCode::add, pooled), 1);
    EXPECT_EQ(after.outputs[0].node().op, OpCode::maximum);
    EXPECT_EQ(after.outputs[2].node().operands[0].dims(), pooled) << "what the bias' gradient adds";
}

TEST(PoolFirst, results_stay_the_same) {
    const Graph graph = pooled_activation();
    expect_equal_on_ties(graph, pool_first(graph));
}

TEST(PoolFirst, other_pools_stay) {
    const Tensor x = image({2, 3, 7, 6});
    const auto is_kept = [&](const Tensor& operand, Reduction reduction) {
        const Tensor pool = reduce_window(operand, overlapping, reduction);
        return pool_first({{x}, {pool}, {}}).outputs[0] == pool;
    };
    const Tensor bias = input({DType::f32, {3}}, Placement::replicated, "bias");
    const Tensor wide = input({DType::f32, {6}}, Placement::replicated, "wide");
    const Tensor biased = x + broadcast_in_dim(bias, x.dims(), {1});
    EXPECT_FALSE(is_kept(relu(biased), Reduction::maximum));
    EXPECT_TRUE(is_kept(relu(biased), Reduction::add));
    EXPECT_TRUE(is_kept(biased, Reduction::maximum));
    EXPECT_TRUE(is_kept(relu(x), Reduction::maximum));
    EXPECT_TRUE(is_kept(relu(x + x), Reduction::maximum));
    EXPECT_TRUE(is_kept(maximum(biased, broadcast(constant(1), x.dims())), Reduction::maximum));
    EXPECT_TRUE(is_kept(relu(x + broadcast_in_dim(wide, x.dims(), {3})), Reduction::maximum))
        << "a bias that differs within a window";
}

TEST(PoolFirst, scattered_sources_that_nothing_masks_keep_what_they_were_compared_in) {
    const Tensor x = image({2, 3, 7, 6});
    const Tensor bias = input({DType::f32, {3}}, Placement::replicated, "bias");
    const Tensor y = relu(x + broadcast_in_dim(bias, x.dims(), {1}));
    const Tensor pooled = reduce_window(y, overlapping, Reduction::maximum);
    const Tensor source = image(pooled.dims());
    const Tensor scattered = select_and_scatter(y, source, overlapping);
    const Graph graph = pool_first({{x, bias, source}, {pooled, scattered}, {}});
    EXPECT_EQ(graph.outputs[1].node().operands[0], y);
}

TEST(PoolFirst, of_rounded_values_only_terms_that_go_to_different_places_are_summed) {
    const Tensor x = image({2, 3, 8, 6});
    const auto summed = [&](const std::vector<WindowDimension>& window) {
        const Dims pooled = reduce_window(x, window, Reduction::maximum).dims();
        const Tensor scattered = select_and_scatter(x, image(pooled), window);
        const Tensor rounded = convert(convert(scattered, DType::bf16), DType::f32);
        const Tensor sum = reduce(rounded, {0, 2, 3}, Reduction::add);
        return pool_first({{x}, {sum}, {}}).outputs[0].node().operands[0].dims();
    };
    const WindowDimension two{.size = 2, .stride = 2};
    EXPECT_EQ(summed({{}, {}, two, two}), (Dims{2, 3, 4, 3}));
    EXPECT_EQ(summed(overlapping), x.dims());
}

TEST(PoolFirst, a_sum_over_a_part_of_the_images_stays) {
    const Tensor x = image({2, 3, 7, 6});
    const Tensor pooled = reduce_window(x, overlapping, Reduction::maximum);
    const Tensor source = image(pooled.dims());
    const Tensor scattered = select_and_scatter(x, source, overlapping);
    const auto operand_of_sum = [&](Dims dimensions, Reduction reduction) {
        const Tensor sum = reduce(scattered, std::move(dimensions), reduction);
        return pool_first({{x, source}, {sum}, {}}).outputs[0].node().operands[0];
    };
    EXPECT_EQ(operand_of_sum({0, 2, 3}, Reduction::add), source);
    EXPECT_EQ(operand_of_sum({2, 3}, Reduction::add), source);
    EXPECT_EQ(operand_of_sum({0, 3}, Reduction::add), scattered);
    EXPECT_EQ(operand_of_sum({0, 2, 3}, Reduction::maximum), scattered);
}

}    // namespace
}    // namespace slipway
