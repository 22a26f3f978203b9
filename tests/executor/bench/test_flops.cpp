#include "executor/bench/flops.h"

#include <gtest/gtest.h>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"

namespace slipway {
namespace {

TEST(ProductFlops, count_two_for_each_pair_of_numbers_on_each_core) {
    const Tensor x = input({DType::f32, {4, 8}}, Placement::per_core, "x");
    const Tensor w = input({DType::f32, {8, 16}}, Placement::replicated, "w");
    const Graph graph{{x, w}, {matmul(x, w), matmul(transpose(w, {1, 0}), w)}, {}};
    EXPECT_EQ(product_flops(graph, 3), 3 * 2 * 4 * 8 * 16 + 2 * 16 * 8 * 16);
}

// Backward over the data dilates its input by the stride: the zeros in between are no work.
TEST(ProductFlops, a_convolution_and_its_two_gradients_count_the_same) {
    for (const std::int64_t stride : {1, 2}) {
        const Tensor x = input({DType::f32, {2, 3, 8, 8}}, Placement::per_core, "x");
        const Tensor w = input({DType::f32, {5, 3, 2, 2}}, Placement::replicated, "w");
        const Tensor y = convolution_2d(x, w, stride, stride == 1 ? 1 : 0);
        const double forward = product_flops({{x, w}, {y}, {}}, 1);
        EXPECT_EQ(forward, 2.0 * 3 * 2 * 2 * double(y.shape().element_count()));
        const std::vector<Tensor> wanted{x, w};
        const auto both = gradients(reduce(y, {0, 1, 2, 3}, Reduction::add), wanted);
        // With a border of one, backward over the data looks at the 8 x 8 places of the image and
        // forward at 9 x 9.
        const double places = stride == 1 ? 64.0 / 81.0 : 1;
        EXPECT_NEAR(product_flops({{x, w}, {both[0]}, {}}, 1), forward * places, 1);
        EXPECT_NEAR(product_flops({{x, w}, {both[1]}, {}}, 1), forward, 1);
    }
}

// 256 rows in four blocks: 1 + 2 + 3 + 4 of 16 squares.
TEST(ProductFlops, the_half_that_a_causal_mask_hides_counts_nothing) {
    const Shape shape{DType::f32, {2, 3, 256, 8}};
    const auto values = [&] { return input(shape, Placement::per_core, "x"); };
    const Tensor q = values(), k = values(), v = values();
    const auto flops = [&](bool causal) {
        const Tensor loss =
            reduce(attention(q, k, v, 0.5, causal, {}), {0, 1, 2, 3}, Reduction::add);
        const std::vector<Tensor> wanted{q, k, v};
        return product_flops(optimize({{q, k, v}, gradients(loss, wanted), {}}).graph, 1);
    };
    const double product = 2.0 * 2 * 3 * 256 * 256 * 8;
    EXPECT_EQ(flops(false), 6 * product);
    EXPECT_EQ(flops(true), 6 * product * 10 / 16);
}

}    // namespace
}    // namespace slipway
