#include "executor/codegen/triangular_analysis.h"

#include <gtest/gtest.h>

#include <limits>

#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr std::int64_t rows = 128;
const Dims dims{2, rows, rows};

Tensor values(DType dtype = DType::f32) {
    return input({dtype, dims}, Placement::per_core, "x");
}

Tensor number(double value, DType dtype = DType::f32) {
    return broadcast(constant(value, dtype), dims);
}

Tensor places(std::int64_t dimension, DType dtype = DType::i32) {
    return iota({dtype, {rows, rows}}, dimension);
}

Tensor lower_mask() {
    return broadcast_in_dim(compare(places(0), places(1), Comparison::ge), dims, {1, 2});
}

bool is_zero(const Tensor& x) {
    return analyze_triangular(graph_of({x})).zero.contains(x.get());
}

bool is_unread(const Tensor& x, std::vector<Tensor> outputs) {
    return analyze_triangular(graph_of(std::move(outputs))).unread.contains(x.get());
}

TEST(RowBlocks, cover_all_rows_in_order) {
    for (std::int64_t n = 1; n < 700; ++n) {
        const auto blocks = row_blocks(n);
        ASSERT_LE(blocks.size(), 4u);
        ASSERT_EQ(blocks.front().first, 0);
        ASSERT_EQ(blocks.back().last, n);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            ASSERT_LT(blocks[i].first, blocks[i].last);
            if (i > 0) {
                ASSERT_EQ(blocks[i].first, blocks[i - 1].last);
            }
        }
    }
}

TEST(TriangularAnalysis, knows_a_mask_by_what_it_compares) {
    const Tensor x = values();
    const Tensor whole = iota({DType::i32, dims}, 1);
    const Tensor whole_columns = iota({DType::i32, dims}, 2);
    const Tensor some = compare(x, number(0), Comparison::gt);
    for (const Tensor& mask :
         {lower_mask(), compare(whole, whole_columns, Comparison::gt),
          compare(whole_columns, whole, Comparison::le),
          compare(whole_columns, whole, Comparison::lt), logical_and(some, lower_mask())})
        EXPECT_TRUE(is_zero(select(mask, x, number(0))));
    const Tensor flipped =
        broadcast_in_dim(compare(places(1), places(0), Comparison::ge), dims, {1, 2});
    const Tensor short_counters =
        compare(places(0, DType::u8), places(1, DType::u8), Comparison::ge);
    for (const Tensor& mask :
         {some, flipped, broadcast_in_dim(short_counters, dims, {1, 2}),
          compare(whole, whole_columns, Comparison::le), compare(whole, whole, Comparison::ge),
          compare(iota({DType::i32, dims}, 0), whole_columns, Comparison::ge),
          logical_or(some, lower_mask()), logical_not(lower_mask())})
        EXPECT_FALSE(is_zero(select(mask, x, number(0))));
}

TEST(TriangularAnalysis, follows_zeros_as_far_as_they_stay_zeros) {
    const Tensor x = values();
    const Tensor zero = select(lower_mask(), x, number(0));
    EXPECT_TRUE(is_zero(convert(zero, DType::bf16)));
    EXPECT_TRUE(is_zero(number(0.5) * zero));
    // Nothing is said of an infinity times zero.
    EXPECT_FALSE(is_zero(number(std::numeric_limits<double>::infinity()) * zero));
    EXPECT_FALSE(is_zero(zero * x));
    EXPECT_FALSE(is_zero(exponential(zero)));
    EXPECT_FALSE(is_zero(select(lower_mask(), x, number(-1e30))));
    EXPECT_FALSE(is_zero(select(lower_mask(), number(0), x)));
}

TEST(TriangularAnalysis, finds_unread_where_every_reader_drops_them) {
    const Tensor x = negate(values());
    const Tensor dropped = select(lower_mask(), x * x, number(-1e30));
    EXPECT_TRUE(is_unread(x, {dropped}));
    EXPECT_FALSE(is_unread(dropped, {dropped}));
    const std::vector<Tensor> other_readers{
        x,
        exponential(x),
        reduce(x, {2}, Reduction::maximum),
        transpose(x, {0, 2, 1}),
        select(lower_mask(), number(0), x),
        compare(x, number(0), Comparison::gt),
        select(compare(x, number(0), Comparison::gt), x, number(1))};
    for (const Tensor& other : other_readers)
        EXPECT_FALSE(is_unread(x, {dropped, other}));
}

TEST(TriangularAnalysis, a_product_reads_no_zeros_where_they_are_all_it_contracts) {
    const Tensor zero = select(lower_mask(), values(), number(0));
    const Tensor x = input({DType::f32, {2, rows, 8}}, Placement::per_core, "x");
    for (const std::int64_t contracted : {1, 2}) {
        const Tensor left = dot_general(zero, x, {{0}, {0}, {contracted}, {1}});
        const Tensor right = dot_general(x, zero, {{0}, {0}, {1}, {contracted}});
        EXPECT_EQ(operand_with_zeros(left.node(), analyze_triangular(graph_of({left}))), 0u);
        EXPECT_EQ(operand_with_zeros(right.node(), analyze_triangular(graph_of({right}))), 1u);
        EXPECT_TRUE(is_unread(zero, {left, right}));
    }
    // Both sides cannot be left out: the right one is read.
    const Tensor square = dot_general(zero, zero, {{0}, {0}, {2}, {1}});
    EXPECT_FALSE(is_unread(zero, {square}));
    const Tensor over_batch = dot_general(zero, zero, {{1}, {1}, {2}, {2}});
    EXPECT_FALSE(operand_with_zeros(over_batch.node(), analyze_triangular(graph_of({over_batch}))));
}

TEST(TriangularAnalysis, knows_what_changes_no_reduction) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto masked = [](double hidden) {
        return select(lower_mask(), values(), number(hidden));
    };
    EXPECT_TRUE(is_neutral_above(masked(0), Reduction::add));
    EXPECT_TRUE(is_neutral_above(masked(-infinity), Reduction::maximum));
    EXPECT_TRUE(is_neutral_above(masked(infinity), Reduction::minimum));
    EXPECT_FALSE(is_neutral_above(masked(1), Reduction::add));
    EXPECT_FALSE(is_neutral_above(masked(-1e30), Reduction::maximum));
    EXPECT_FALSE(is_neutral_above(values(), Reduction::add));
}

}    // namespace
}    // namespace slipway
