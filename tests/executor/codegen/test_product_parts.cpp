#include "executor/codegen/product_parts.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using Range = ProductPart::Range;

Tensor values(Dims dims) {
    return input({DType::f32, std::move(dims)}, Placement::per_core, "x");
}

Tensor masked(const Tensor& x, double hidden) {
    const Dims& dims = x.dims();
    const Tensor mask =
        compare(iota({DType::i32, dims}, 1), iota({DType::i32, dims}, 2), Comparison::ge);
    return select(mask, x, broadcast(constant(hidden), dims));
}

std::vector<ProductPart> parts_of(const Tensor& product, const Tensor& output) {
    return product_parts(product, analyze_triangular(graph_of({output})));
}

bool holds(const Range& range, std::int64_t i) {
    return range.first <= i && i < range.last;
}

using Needed = std::function<bool(std::int64_t row, std::int64_t column, std::int64_t term)>;

/// Every pair that is needed is multiplied once, and none twice.
void expect_parts(const std::vector<ProductPart>& parts, const std::array<std::int64_t, 3>& extents,
                  const Needed& needed) {
    for (std::int64_t row = 0; row < extents[0]; ++row)
        for (std::int64_t column = 0; column < extents[1]; ++column)
            for (std::int64_t term = 0; term < extents[2]; ++term) {
                int times = 0;
                for (const ProductPart& part : parts)
                    times += int(holds(part.rows, row) && holds(part.columns, column) &&
                                 holds(part.terms, term));
                ASSERT_LE(times, 1);
                if (needed(row, column, term)) {
                    ASSERT_EQ(times, 1) << row << " " << column << " " << term;
                }
            }
}

// Goal: each of the six products of attention, on either side, in either transposition, leaves out
// nothing but zeros and what nobody reads.
TEST(ProductParts, are_what_the_lower_triangle_needs) {
    for (const std::int64_t n : {5, 64, 127, 128, 150, 256}) {
        const Tensor zero = masked(values({2, n, n}), 0);
        const Tensor x = values({2, n, 3});
        const auto left = [&](std::int64_t contracted) {
            return dot_general(zero, x, {{0}, {0}, {contracted}, {1}});
        };
        const auto right = [&](std::int64_t contracted) {
            return dot_general(x, zero, {{0}, {0}, {1}, {contracted}});
        };
        expect_parts(parts_of(left(2), left(2)), {n, 3, n},
                     [](auto row, auto, auto term) { return term <= row; });
        expect_parts(parts_of(left(1), left(1)), {n, 3, n},
                     [](auto row, auto, auto term) { return row <= term; });
        expect_parts(parts_of(right(2), right(2)), {3, n, n},
                     [](auto, auto column, auto term) { return term <= column; });
        expect_parts(parts_of(right(1), right(1)), {3, n, n},
                     [](auto, auto column, auto term) { return column <= term; });
        const Tensor scores = dot_general(x, x, {{0}, {0}, {2}, {2}});
        const auto parts = parts_of(scores, masked(scores, -1e30));
        expect_parts(parts, {n, n, 3}, [](auto row, auto column, auto) { return column <= row; });
        EXPECT_EQ(parts.size(), row_blocks(n).size());
    }
}

TEST(ProductParts, are_the_whole_where_nothing_is_known) {
    const Tensor x = values({2, 128, 3});
    const Tensor scores = dot_general(x, x, {{0}, {0}, {2}, {2}});
    const Tensor both = masked(scores, 0) + scores;
    ASSERT_EQ(parts_of(scores, both).size(), 1u);
    expect_parts(parts_of(scores, both), {128, 128, 3}, [](auto, auto, auto) { return true; });
    const Tensor narrow = input({DType::bf16, {2, 128, 3}}, Placement::per_core, "x");
    const Tensor narrow_scores = dot_general(narrow, narrow, {{0}, {0}, {2}, {2}, DType::f32});
    EXPECT_EQ(parts_of(narrow_scores, masked(narrow_scores, 0)).size(), 1u);
    // Several dimensions make the rows: no square matrix.
    const Tensor wide = dot_general(values({2, 4, 5, 6}), values({6, 20}), {{}, {}, {3}, {0}});
    expect_parts(parts_of(wide, wide), {40, 20, 6}, [](auto, auto, auto) { return true; });
}

}    // namespace
}    // namespace slipway
