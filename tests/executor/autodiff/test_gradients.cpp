#include "executor/autodiff/gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/graph/ops.h"
#include "executor/reference/evaluate.h"
#include "tests/support/gradcheck.h"

namespace slipway {
namespace {

Tensor input(Dims dims = {}, Placement placement = Placement::replicated,
             DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, placement, "x");
}

Array scalar(float value) {
    return array_of<float>({}, {{value}});
}

float value_of(const Graph& graph, const std::vector<ReferenceValue>& inputs, int cores = 1) {
    return evaluate(graph, inputs, cores)[0][0].as<float>()[0];
}

std::string refusal(const Tensor& loss, const Tensor& parameter) {
    try {
        gradients(loss, {{parameter}});
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return "was not refused";
}

TEST(Gradients, uses_of_one_value_add_up) {
    const Tensor x = input();
    const Tensor loss = x * x + x;
    EXPECT_EQ(value_of({{x}, gradients(loss, {{x}}), {}}, {{scalar(3)}}), 7);
}

TEST(Gradients, loss_itself_has_gradient_one) {
    const Tensor x = input();
    EXPECT_EQ(value_of({{x}, gradients(x, {{x}}), {}}, {{scalar(3)}}), 1);
}

TEST(Gradients, any_node_can_be_a_parameter) {
    const Tensor x = input();
    const Tensor y = x * x;
    EXPECT_EQ(value_of({{x}, gradients(y * y, {{y}}), {}}, {{scalar(3)}}), 18);
}

TEST(Gradients, unused_parameter_gets_zeros_of_its_shape) {
    const Tensor x = input();
    const Tensor unused = input({2, 3});
    const Tensor zeros = gradients(x, {{unused}})[0];
    EXPECT_EQ(zeros.shape(), unused.shape());
    const Graph graph{{x, unused}, {zeros}, {}};
    EXPECT_EQ(value_of(graph, {{scalar(1)}, {Array(unused.shape())}}), 0);
}

TEST(Gradients, stop_gradient_stops_it) {
    const Tensor x = input();
    const Tensor loss = x * stop_gradient(x);
    EXPECT_EQ(value_of({{x}, gradients(loss, {{x}}), {}}, {{scalar(3)}}), 3);
}

TEST(Gradients, labels_stand_in_no_ones_way) {
    const Tensor logits = input({2, 3});
    const Tensor labels = input({2}, Placement::replicated, DType::i32);
    const Tensor loss = reduce(log_softmax(logits) * one_hot(labels, 3), {0, 1}, Reduction::add);
    EXPECT_EQ(gradients(loss, {{logits}})[0].shape(), logits.shape());
}

TEST(Gradients, of_a_maximum_is_shared_by_equals) {
    const Tensor x = input({4});
    const Graph graph{{x}, gradients(reduce(x, {0}, Reduction::maximum), {{x}}), {}};
    const Array values = array_of<float>({4}, {{1, 5, 5, 2}});
    const Array dx = evaluate(graph, {{{values}}}, 1)[0][0];
    EXPECT_THAT(dx.as<float>(), testing::ElementsAre(0, 0.5F, 0.5F, 0));
}

TEST(Gradients, of_relu_at_zero_is_zero) {
    const Tensor x = input();
    EXPECT_EQ(value_of({{x}, gradients(relu(x), {{x}}), {}}, {{scalar(0)}}), 0);
}

// Two cores with 1 and 10 samples' sums: each core's share, and the shares' sum, are as by hand.
TEST(Gradients, shares_of_the_cores_sum_up_to_the_gradient) {
    const Tensor weight = input();
    const Tensor x = input({}, Placement::per_core);
    const Tensor share = gradients(weight * weight * x, {{weight}})[0];
    EXPECT_EQ(share.node().placement, Placement::per_core);
    const Graph graph{{weight, x}, {all_reduce(share)}, {}};
    EXPECT_EQ(value_of(graph, {{scalar(3)}, {scalar(1), scalar(10)}}, 2), 66);
}

TEST(Gradients, flow_through_a_sum_over_cores) {
    const Tensor x = input({}, Placement::per_core);
    const Tensor sum = all_reduce(x);
    const Graph graph{{x}, gradients(sum * sum, {{x}}), {}};
    EXPECT_EQ(value_of(graph, {{scalar(1), scalar(10)}}, 2), 22);
}

// Each core's loss is (x0 + x1)^2 w of its own w: with sum 11 both cores' x get 22 (w0 + w1).
TEST(Gradients, of_a_sum_over_cores_are_summed_over_the_cores_losses) {
    const Tensor x = input({}, Placement::per_core);
    const Tensor w = input({}, Placement::per_core);
    const Tensor sum = all_reduce(x);
    const Graph graph{{x, w}, gradients(sum * sum * w, {{x}}), {}};
    EXPECT_EQ(value_of(graph, {{scalar(1), scalar(10)}, {scalar(2), scalar(3)}}, 2), 110);
}

// The loss is the sum of the cores' losses, taken once more by itself: nobody can tell shares from
// the whole in what flows to the inner sum.
TEST(Gradients, of_a_sum_used_on_each_core_and_once_are_refused) {
    const Tensor x = input({}, Placement::per_core);
    const Tensor sum = all_reduce(x);
    EXPECT_THAT(refusal(all_reduce(sum * x) + sum, x), testing::HasSubstr("add the parts up"));
}

TEST(Gradients, of_a_sum_that_moves_every_cores_loss_alike_are_refused) {
    const Tensor x = input({}, Placement::per_core);
    EXPECT_THAT(refusal(all_reduce(x) + x, x), testing::HasSubstr("in a value per core"));
}

// Through two sums, one of each core's loss and one in it: d/dx of (x0 + x1) (x0 + x1).
TEST(Gradients, of_a_sum_within_a_summed_loss_count_every_core) {
    const Tensor x = input({}, Placement::per_core);
    const Graph graph{{x}, gradients(all_reduce(all_reduce(x) * x), {{x}}), {}};
    EXPECT_EQ(value_of(graph, {{scalar(1), scalar(10)}}, 2), 22);
}

// A network as small as it gets with the layers of LeNet, against differences in f64.
TEST(Gradients, of_a_convolutional_network_match_differences) {
    RandomStream random(1, 0, 0);
    const auto network = [](const std::vector<Tensor>& x) {
        const Tensor y =
            convolution_2d(x[0], x[1], 1, 1) + broadcast_in_dim(x[2], {2, 2, 6, 6}, {1});
        const Tensor pooled = max_pool_2d(relu(y), 2, 2);
        const Tensor logits = matmul(reshape(pooled, {2, 18}), x[3]);
        const Tensor labels = iota({DType::i32, {2}}, 0);
        return reduce(log_softmax(logits) * one_hot(labels, 3, DType::f64), {0, 1}, Reduction::add);
    };
    expect_gradients_match(
        network,
        {random_values(random, {2, 1, 6, 6}, -1, 1), random_values(random, {2, 1, 3, 3}, -1, 1),
         random_values(random, {2}, -1, 1), random_values(random, {18, 3}, -1, 1)},
        random);
}

TEST(Gradients, loss_that_is_no_scalar_is_refused) {
    const Tensor x = input({2});
    EXPECT_THAT(refusal(x, x), testing::HasSubstr("floating scalar, got f32[2]"));
}

TEST(Gradients, loss_that_is_an_integer_is_refused) {
    const Tensor x = input({}, Placement::replicated, DType::i32);
    EXPECT_THAT(refusal(x, x), testing::HasSubstr("i32[]"));
}

TEST(Gradients, op_without_a_gradient_on_the_way_is_named) {
    const Tensor x = input({4});
    const Tensor source = input({2});
    const WindowDimension window{.size = 2, .stride = 2};
    const Tensor y = select_and_scatter(x, source, {window});
    EXPECT_THAT(refusal(reduce(y, {0}, Reduction::add), source),
                testing::HasSubstr("select_and_scatter"));
    const Tensor largest = all_reduce(input({}, Placement::per_core), Reduction::maximum);
    EXPECT_THAT(refusal(largest, largest.node().operands[0]), testing::HasSubstr("all_reduce"));
    const Tensor lowest = reduce_window(x, {{.size = 4}}, Reduction::minimum);
    EXPECT_THAT(refusal(reshape(lowest, {}), x), testing::HasSubstr("reduce_window"));
}

TEST(Gradients, op_without_a_gradient_off_the_way_does_not_matter) {
    const Tensor x = input({2});
    const Tensor source = input({1});
    const Tensor z = input();
    const Tensor scattered = select_and_scatter(x, source, {{.size = 2}});
    const Tensor loss = z * reduce(scattered, {0}, Reduction::add);
    EXPECT_EQ(gradients(loss, {{z}})[0].shape(), z.shape());
}

}    // namespace
}    // namespace slipway
