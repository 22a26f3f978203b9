#include "executor/graph/node.h"

#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/graph/ops.h"

namespace slipway {
namespace {

Tensor replicated(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::replicated, "replicated");
}

Tensor per_core(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "per_core");
}

TEST(Node, result_is_per_core_when_any_operand_is) {
    EXPECT_EQ((replicated({2}) + replicated({2})).node().placement, Placement::replicated);
    EXPECT_EQ((replicated({2}) + per_core({2})).node().placement, Placement::per_core);
    EXPECT_EQ((constant(1) * per_core({2})).node().placement, Placement::per_core);
}

TEST(Node, all_reduce_makes_a_replicated_value) {
    EXPECT_EQ(all_reduce(per_core({2})).node().placement, Placement::replicated);
}

TEST(Node, shares_are_summed_over_the_cores_and_a_whole_value_is_not) {
    const Tensor share = per_core({2}), whole = replicated({2});
    EXPECT_EQ(sum_of_shares(share).node().op, OpCode::all_reduce);
    EXPECT_EQ(sum_of_shares(share).node().operands[0], share);
    EXPECT_EQ(sum_of_shares(whole), whole);
}

TEST(Node, sums_that_are_exchanged_differ_are_others) {
    const Tensor x = per_core({2});
    const Tensor plain = all_reduce(x), exchanged = sum_of_shares(x, DType::bf16);
    EXPECT_NE(plain.node().attributes, exchanged.node().attributes);
    EXPECT_NE(plain.node().hash, exchanged.node().hash);
}

TEST(Node, same_operands_give_the_same_node_back) {
    const Tensor x = replicated({2});
    const Tensor y = negate(x);
    EXPECT_EQ(with_operands(y, {x}), y);
    const Tensor other = with_operands(y, {replicated({2})});
    EXPECT_NE(other, y);
    EXPECT_EQ(other.node().op, OpCode::negate);
}

TEST(Node, scalar_operand_is_repeated_as_a_node) {
    const Tensor y = replicated({2, 3}) * constant(2);
    EXPECT_EQ(y.node().operands[1].node().op, OpCode::broadcast_in_dim);
    EXPECT_EQ(y.dims(), (Dims{2, 3}));
}

TEST(Node, message_names_op_constraint_and_shapes) {
    try {
        transpose(replicated({2, 3}), {0, 0});
        FAIL() << "was not refused";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "transpose: permutation [0,0] must name each of the operand's 2 dimensions "
                     "once (transpose_c1); operands: f32[2,3]");
    }
}

// pad_c2: ops.h takes a number, so only a pass could get this wrong.
TEST(Node, padding_with_a_value_that_is_no_constant_is_refused) {
    const PadAttributes padding{{1}, {1}, {0}};
    for (const Tensor& value : {replicated({}), constant(0, DType::f64)}) {
        EXPECT_THROW(make_node({.op = OpCode::pad,
                                .attributes = padding,
                                .operands = {replicated({2}), value},
                                .result = {}}),
                     Error);
    }
}

// Goal: neither walking nor dropping a graph needs a stack as deep as the graph.
TEST(Node, very_deep_graph_can_be_walked_and_dropped) {
    constexpr int depth = 200000;
    Tensor x = replicated({1});
    for (int i = 0; i < depth; ++i)
        x = negate(x);
    EXPECT_EQ(topological_order({&x, 1}).size(), std::size_t(depth) + 1);
    x = Tensor();
}

TEST(Graph, order_is_inputs_then_operands_before_users) {
    const Tensor unused = replicated({1});
    const Tensor x = replicated({1});
    const Tensor y = negate(x);
    const Graph graph{{unused, x}, {y + x, y}, {}};
    const std::vector<Tensor> order = topological_order(graph);
    ASSERT_EQ(order.size(), 4u);
    EXPECT_EQ(order[0], unused);
    EXPECT_EQ(order[1], x);
    EXPECT_EQ(order[2], y);
    EXPECT_EQ(order[3], graph.outputs[0]);
}

}    // namespace
}    // namespace slipway
