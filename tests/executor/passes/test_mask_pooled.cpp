#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/passes.h"
#include "executor/reference/evaluate.h"

namespace slipway {
namespace {

const std::vector<WindowDimension> overlapping{
    {}, {}, {.size = 3, .stride = 2, .padding_low = 1}, {.size = 2, .stride = 1}};

Tensor images(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}

/// The gradient of a weighted sum of pooled relu(x), over inputs x and weights.
Graph pooled_gradient(const std::vector<WindowDimension>& window) {
    const Tensor x = images({2, 3, 7, 6});
    const Tensor pooled = reduce_window(relu(x), window, Reduction::maximum);
    const Tensor weights = images(pooled.dims());
    const Tensor loss = reduce(pooled * weights, {0, 1, 2, 3}, Reduction::add);
    return merge_common({{x, weights}, {loss, gradients(loss, {{x}})[0]}, {}});
}

OpCode op_of_gradient(const Graph& graph) {
    return mask_pooled(graph).outputs[1].node().op;
}

/// Few values, so that many elements of a window are equal; some are 0, some below, some no number.
ReferenceValue values_of(const Tensor& input) {
    constexpr float numbers[] = {-2, -0.0F, 0, 1, 3, std::numeric_limits<float>::quiet_NaN()};
    Array array(input.shape());
    std::uint32_t seed = 1;
    for (float& value : array.as<float>()) {
        seed = seed * 1664525U + 1013904223U;
        value = numbers[(seed >> 16) % 6];
    }
    return {array};
}

TEST(MaskPooled, the_mask_goes_below_the_pool) {
    const Graph graph = pooled_gradient(overlapping);
    EXPECT_EQ(graph.outputs[1].node().op, OpCode::select);
    EXPECT_EQ(op_of_gradient(graph), OpCode::select_and_scatter);
}

TEST(MaskPooled, every_bit_stays) {
    const Graph graph = pooled_gradient(overlapping);
    const std::vector<ReferenceValue> inputs{values_of(graph.inputs[0]),
                                             values_of(graph.inputs[1])};
    const Array before = evaluate(graph, inputs, 1)[1][0];
    const Array after = evaluate(mask_pooled(graph), inputs, 1)[1][0];
    EXPECT_EQ(std::memcmp(before.bytes(), after.bytes(), std::size_t(before.shape().byte_count())),
              0);
}

TEST(MaskPooled, other_masks_and_pools_stay) {
    const Tensor x = images({1, 1, 4, 4}), source = images({1, 1, 2, 2});
    const std::vector<WindowDimension> halves{{}, {}, {2, 2}, {2, 2}};
    const Tensor scattered = select_and_scatter(x, source, halves);
    const Tensor zero = constant(0);
    const Tensor largest = reduce_window(x, halves, Reduction::maximum);
    const Tensor mask = compare(x, zero, Comparison::gt);
    const auto op_with = [&](const Tensor& pooled, const Tensor& result) {
        return op_of_gradient({{x, source}, {pooled, result}, {}});
    };
    EXPECT_EQ(op_with(largest, select(mask, scattered, zero)), OpCode::select_and_scatter);
    // Nothing but zeros may take the masked elements' place.
    EXPECT_EQ(op_with(largest, select(mask, scattered, constant(1))), OpCode::select);
    // A mask of anything but the pooled value and one number.
    EXPECT_EQ(op_with(largest, select(compare(x, negate(x), Comparison::gt), scattered, zero)),
              OpCode::select);
    EXPECT_EQ(op_with(largest, select(compare(tanh(x), zero, Comparison::gt), scattered, zero)),
              OpCode::select);
    // No maxima of just these windows are known.
    EXPECT_EQ(op_with(reduce_window(x, halves, Reduction::add), select(mask, scattered, zero)),
              OpCode::select);
    EXPECT_EQ(op_with(reduce_window(x, {{}, {}, {2}, {2}}, Reduction::maximum),
                      select(mask, scattered, zero)),
              OpCode::select);
}

}    // namespace
}    // namespace slipway
