#include <gtest/gtest.h>

#include <cmath>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/passes/pipeline.h"
#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

constexpr std::int64_t samples = 4, features = 6, hidden = 5;

/// loss and the weights' gradients of relu(x w1) w2, summed over the cores.
struct Step {
    Tensor w1 = input({DType::f32, {features, hidden}}, Placement::replicated, "w1");
    Tensor w2 = input({DType::f32, {hidden, 3}}, Placement::replicated, "w2");
    Tensor x = input({DType::f32, {samples, features}}, Placement::per_core, "x");
    Graph graph;

    Step() {
        const Tensor y = matmul(relu(matmul(x, w1)), w2);
        const Tensor loss = reduce(y * y, {0, 1}, Reduction::add);
        const std::vector<Tensor> weights{w1, w2};
        graph.inputs = {w1, w2, x};
        graph.outputs = {all_reduce(loss)};
        for (const Tensor& gradient : gradients(loss, weights))
            graph.outputs.push_back(all_reduce(gradient));
    }
};

std::vector<Tensor> nodes_of(const Graph& graph, OpCode op) {
    std::vector<Tensor> found;
    for (const Tensor& tensor : topological_order(graph))
        if (tensor.node().op == op) found.push_back(tensor);
    return found;
}

Graph lowered(const Graph& graph) {
    return optimize(graph, {.passes = {.precision = PrecisionPolicy::bf16}}).graph;
}

TEST(MixPrecision, changes_nothing_unless_asked) {
    const Step step;
    EXPECT_EQ(apply_precision(step.graph, {}).outputs, step.graph.outputs);
}

TEST(MixPrecision, every_product_reads_the_narrow_type) {
    const Step step;
    const std::vector<Tensor> products = nodes_of(lowered(step.graph), OpCode::dot_general);
    ASSERT_EQ(products.size(), 5U);    // two forward, two for the weights, one for the hidden layer
    for (const Tensor& product : products)
        for (const Tensor& operand : product.node().operands)
            EXPECT_EQ(operand.dtype(), DType::bf16);
}

TEST(MixPrecision, gradients_of_weights_and_sums_over_cores_stay_wide) {
    const Step step;
    const Graph graph = lowered(step.graph);
    for (const Tensor& sum : nodes_of(graph, OpCode::all_reduce))
        EXPECT_EQ(sum.dtype(), DType::f32);
    int wide = 0;
    for (const Tensor& product : nodes_of(graph, OpCode::dot_general))
        wide += product.dtype() == DType::f32 ? 1 : 0;
    EXPECT_EQ(wide, 2);
}

TEST(MixPrecision, a_gradient_with_rows_added_stays_wide) {
    const Tensor x = input({DType::f32, {4, 6}}, Placement::per_core, "x");
    const Tensor rows = input({DType::f32, {3, 6}}, Placement::per_core, "rows");
    const Tensor numbers = input({DType::i32, {3}}, Placement::per_core, "numbers");
    const Tensor product = matmul(transpose(x, {1, 0}), x);
    const Graph graph =
        mix_precision({{x, rows, numbers},
                       {all_reduce(scatter_add(product, numbers, matmul(rows, product)))},
                       {}});
    const std::vector<Tensor> products = nodes_of(graph, OpCode::dot_general);
    ASSERT_EQ(products.size(), 2U);
    EXPECT_EQ(products[0].dtype(), DType::bf16);    // a product reads it, too
    EXPECT_EQ(products[1].dtype(), DType::bf16);    // it is rounded before it is added
    const Graph alone =
        mix_precision({{x, rows, numbers}, {all_reduce(scatter_add(product, numbers, rows))}, {}});
    EXPECT_EQ(nodes_of(alone, OpCode::dot_general).at(0).dtype(), DType::f32);
}

TEST(MixPrecision, weights_are_rounded_once) {
    const Step step;
    int roundings = 0;
    for (const Tensor& conversion : nodes_of(lowered(step.graph), OpCode::convert))
        roundings += conversion.node().operands[0] == step.w2 ? 1 : 0;
    EXPECT_EQ(roundings, 1);    // read by two products
}

TEST(MixPrecision, inputs_and_outputs_keep_their_shapes) {
    const Step step;
    const Graph graph = lowered(step.graph);
    EXPECT_EQ(graph.inputs, step.graph.inputs);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i)
        EXPECT_EQ(graph.outputs[i].shape(), step.graph.outputs[i].shape());
}

TEST(MixPrecision, a_view_lies_on_top_of_its_rounding) {
    const Tensor x = input({DType::f32, {2, 3}}, Placement::per_core, "x");
    const Tensor y = tanh(x);
    const Tensor w = input({DType::f32, {2, 4}}, Placement::replicated, "w");
    const Graph graph = mix_precision({{x, w}, {matmul(transpose(y, {1, 0}), w)}, {}});
    const Tensor product = nodes_of(graph, OpCode::dot_general).at(0);
    const Tensor left = product.node().operands[0];
    ASSERT_EQ(left.node().op, OpCode::transpose);
    EXPECT_EQ(left.node().operands[0].node().op, OpCode::convert);
}

TEST(MixPrecision, parts_of_the_narrow_type_are_joined_narrow) {
    const Tensor x = input({DType::f32, {2, 3}}, Placement::per_core, "x");
    const Tensor w = input({DType::f32, {3, 3}}, Placement::replicated, "w");
    const Tensor joined = concatenate({matmul(x, w), matmul(tanh(x), w)}, 0);
    const Tensor sum = reduce(joined, {0}, Reduction::add);
    const Graph graph = mix_precision({{x, w}, {matmul(joined, w), sum}, {}});
    const std::vector<Tensor> found = nodes_of(graph, OpCode::concatenate);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].dtype(), DType::bf16);
}

TEST(MixPrecision, results_are_those_of_f32_within_its_rounding) {
    const Step step;
    std::vector<ReferenceValue> values;
    std::uint32_t seed = 1;
    for (const Tensor& input : step.graph.inputs) {
        Array array(input.shape());
        for (float& value : array.as<float>()) {
            seed = seed * 1664525U + 1013904223U;
            value = float(seed >> 8) * 0x1p-23F - 1.0F;
        }
        values.push_back({array});
    }
    const auto wide = evaluate(step.graph, values, 1);
    const auto narrow = evaluate(lowered(step.graph), values, 1);
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const auto expected = wide[i][0].as<float>();
        const auto got = narrow[i][0].as<float>();
        double error = 0, size = 0;
        for (std::size_t k = 0; k < expected.size(); ++k) {
            error += std::abs(double(got[k]) - double(expected[k]));
            size += std::abs(double(expected[k]));
        }
        // Four roundings of 2^-9 each lie between an input and a gradient.
        EXPECT_LT(error, size * 4 * 0x1p-9) << "output " << i;
        EXPECT_GT(error, 0) << "output " << i;
    }
}

}    // namespace
}    // namespace slipway
