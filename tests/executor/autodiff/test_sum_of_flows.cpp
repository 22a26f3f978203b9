#include "executor/autodiff/sum_of_flows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "tests/support/gradcheck.h"

namespace slipway {
namespace {

Tensor columns(const Tensor& x, std::int64_t begin, std::int64_t end) {
    return slice(x, {0, begin}, {x.dims()[0], end}, {1, 1});
}

/// What flows back through these columns of a [2, 6].
std::vector<Tensor> flows_of(const std::vector<std::pair<std::int64_t, std::int64_t>>& ranges) {
    std::vector<Tensor> flows;
    for (const auto& [begin, end] : ranges)
        flows.push_back(pad(input({DType::f32, {2, end - begin}}, Placement::per_core, "dy"), 0,
                            {{0, begin}, {0, 6 - end}, {0, 0}}));
    return flows;
}

OpCode op_of_sum(const std::vector<Tensor>& flows) {
    return sum_of_flows(flows).node().op;
}

TEST(SumOfFlows, of_one_is_itself) {
    const std::vector<Tensor> flows = flows_of({{2, 4}});
    EXPECT_EQ(sum_of_flows(flows), flows[0]);
}

TEST(SumOfFlows, of_all_parts_joins_them_in_any_order) {
    const std::vector<Tensor> flows = flows_of({{4, 6}, {0, 1}, {1, 4}});
    const Tensor sum = sum_of_flows(flows);
    ASSERT_EQ(sum.node().op, OpCode::concatenate);
    EXPECT_EQ(sum.shape(), flows[0].shape());
    EXPECT_EQ(sum.node().operands[0], flows[1].node().operands[0]);
    EXPECT_EQ(sum.node().operands[2], flows[0].node().operands[0]);
}

TEST(SumOfFlows, of_other_flows_adds_them) {
    const Tensor rows =
        pad(input({DType::f32, {1, 6}}, Placement::per_core, "dy"), 0, {{0, 0}, {1, 0}, {0, 0}});
    const Tensor every_second =
        pad(input({DType::f32, {2, 3}}, Placement::per_core, "dy"), 0, {{0, 0}, {0, 1}, {0, 1}});
    const Tensor ones =
        pad(input({DType::f32, {2, 3}}, Placement::per_core, "dy"), 1, {{0, 0}, {0, 3}, {0, 0}});
    const Tensor whole = input({DType::f32, {2, 6}}, Placement::per_core, "dy");
    const Tensor half = flows_of({{0, 3}})[0], rest = flows_of({{3, 6}})[0];
    EXPECT_EQ(op_of_sum(flows_of({{0, 3}, {2, 6}})), OpCode::add);    // overlap
    EXPECT_EQ(op_of_sum(flows_of({{0, 2}, {3, 6}})), OpCode::add);    // a gap
    EXPECT_EQ(op_of_sum(flows_of({{0, 2}, {2, 5}})), OpCode::add);    // the end is missing
    EXPECT_EQ(op_of_sum({half, rest, whole}), OpCode::add);
    EXPECT_EQ(op_of_sum({half, rows}), OpCode::add);
    EXPECT_EQ(op_of_sum({every_second, rest}), OpCode::add);
    EXPECT_EQ(op_of_sum({ones, rest}), OpCode::add);
}

// A table that is also a layer's weight: rows are added to the weight's gradient.
TEST(SumOfFlows, of_look_ups_adds_their_rows_to_the_rest) {
    const Tensor table = input({DType::f32, {4, 6}}, Placement::replicated, "table");
    const auto looked_up = [&] {
        const Tensor rows = gather(table, input({DType::i32, {3}}, Placement::per_core, "n"));
        return gradients(reduce(tanh(rows), {0, 1}, Reduction::add), {{table}})[0];
    };
    const Tensor first = looked_up(), second = looked_up();
    const Tensor rest = input(table.shape(), Placement::per_core, "dy");
    ASSERT_EQ(first.node().op, OpCode::scatter_add);
    const std::vector<Tensor> flows{first, rest, second};
    const Tensor sum = sum_of_flows(flows);
    ASSERT_EQ(sum.node().op, OpCode::scatter_add);
    EXPECT_EQ(sum.node().operands[2], second.node().operands[2]);
    EXPECT_EQ(sum.node().operands[0].node().operands[0], rest);
    const std::vector<Tensor> look_ups{first, second};
    EXPECT_EQ(sum_of_flows(look_ups).node().operands[0], first);
}

TEST(SumOfFlows, gradient_of_slices_matches_differences) {
    RandomStream random(1, 0, 0);
    expect_gradients_match(
        [](const std::vector<Tensor>& x) {
            const Tensor product = columns(x[0], 4, 6) * columns(x[0], 0, 2);
            return reduce(product * exponential(columns(x[0], 2, 4)), {0, 1}, Reduction::add);
        },
        {random_values(random, {2, 6}, -1, 1)}, random);
}

}    // namespace
}    // namespace slipway
