#include <gtest/gtest.h>

#include <tuple>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "tests/executor/passes/pooled_values.h"

namespace slipway {
namespace {

using Window = std::vector<WindowDimension>;

const Window disjoint{{}, {}, {.size = 2, .stride = 2}, {.size = 2, .stride = 2}};
const Window overlapping{{}, {}, {.size = 3, .stride = 2}, {.size = 2, .stride = 1}};

Tensor image(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}

/// A small network's first layer, as training has it: relu(convolution + bias) below a pool, and
/// the gradients of weights and bias.
struct Layer {
    Tensor x = image({2, 1, 10, 9});
    Tensor weights = input({DType::f32, {4, 1, 3, 3}}, Placement::replicated, "weights");
    Tensor bias = input({DType::f32, {4}}, Placement::replicated, "bias");
    Tensor scale;
    Graph graph;

    explicit Layer(const Window& window) {
        const Tensor y = convolution_2d(x, weights, 1, 1);
        const Tensor sum = y + broadcast_in_dim(bias, y.dims(), {1});
        const Tensor pooled = reduce_window(relu(sum), window, Reduction::maximum);
        scale = image(pooled.dims());
        const Tensor loss = reduce(pooled * scale, {0, 1, 2, 3}, Reduction::add);
        graph.inputs = {x, weights, bias, scale};
        graph.outputs = {all_reduce(loss)};
        for (const Tensor& gradient : gradients(loss, {{weights, bias}}))
            graph.outputs.push_back(all_reduce(gradient));
    }
};

Graph optimized(const Graph& graph, std::vector<std::string> skip = {}) {
    return optimize(graph,
                    {.passes = {.precision = PrecisionPolicy::bf16}, .skip = std::move(skip)})
        .graph;
}

std::vector<DType> types_of(const Graph& graph, OpCode op) {
    std::vector<DType> types;
    for (const Tensor& tensor : topological_order(graph))
        if (tensor.node().op == op) types.push_back(tensor.dtype());
    return types;
}

TEST(NarrowPools, a_pool_and_its_gradient_read_what_the_product_wrote) {
    const Graph graph = optimized(Layer(disjoint).graph);
    EXPECT_EQ(types_of(graph, OpCode::reduce_window), std::vector{DType::bf16});
    EXPECT_EQ(types_of(graph, OpCode::select_and_scatter), std::vector{DType::bf16});
}

TEST(NarrowPools, terms_that_are_added_up_stay_wide) {
    const Graph graph = optimized(Layer(overlapping).graph);
    EXPECT_EQ(types_of(graph, OpCode::reduce_window), std::vector{DType::bf16});
    EXPECT_EQ(types_of(graph, OpCode::select_and_scatter), std::vector{DType::f32});
}

TEST(NarrowPools, no_bit_changes) {
    for (const Window& window : {disjoint, overlapping}) {
        const Layer layer(window);
        expect_equal_on_ties(optimized(layer.graph, {"narrow_pools"}), optimized(layer.graph));
    }
}

TEST(NarrowPools, sums_and_values_that_were_never_narrow_stay) {
    const Tensor x = image({2, 3, 8, 8});
    const Tensor widened = convert(convert(x, DType::bf16), DType::f32);
    for (const auto& [operand, reduction, is_kept] :
         {std::tuple{widened, Reduction::add, true}, std::tuple{x, Reduction::maximum, true},
          std::tuple{widened, Reduction::minimum, false}}) {
        const Tensor pool = reduce_window(operand, disjoint, reduction);
        EXPECT_EQ(narrow_pools({{x}, {pool}, {}}).outputs[0] == pool, is_kept);
    }
}

}    // namespace
}    // namespace slipway
