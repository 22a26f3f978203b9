#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "api/base/error.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor core_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::per_core, "x");
}
Tensor shared_input(Dims dims, DType dtype = DType::f32) {
    return input({dtype, std::move(dims)}, Placement::replicated, "w");
}

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {}).steps)
        text += step.name + "\n";
    return text;
}

TEST(DotGeneral, multiplies_matrices_in_each_transposition) {
    const Tensor ab = core_input({33, 70});
    const Tensor ba = core_input({70, 33});
    const Tensor bc = shared_input({70, 20});
    const Tensor cb = shared_input({20, 70});
    EXPECT_EQ(
        compare_with_reference(
            graph_of(
                {dot_general(ab, bc, {{}, {}, {1}, {0}}), dot_general(ab, cb, {{}, {}, {1}, {1}}),
                 dot_general(ba, bc, {{}, {}, {0}, {0}}), dot_general(ba, cb, {{}, {}, {0}, {1}}),
                 matmul(transpose(ba, {1, 0}), transpose(cb, {1, 0})), matmul(reverse(ab, {1}), bc),
                 matmul(ab, reverse(bc, {0, 1})), matmul(slice(ab, {1, 0}, {33, 70}, {2, 1}), bc),
                 matmul(slice(ab, {0, 0}, {33, 70}, {1, 2}), slice(bc, {0, 3}, {35, 11}, {1, 1}))}),
            sum_tolerance(70), 1),
        "");
}

TEST(DotGeneral, takes_transpositions_and_batches_without_copies) {
    const Tensor x = core_input({4, 8, 5, 16});
    const Tensor y = core_input({4, 8, 7, 16});
    const Tensor scores = dot_general(x, y, {{0, 1}, {0, 1}, {3}, {3}});
    const Tensor w = shared_input({10, 80});
    const Tensor z = matmul(reshape(x, {32, 80}), transpose(w, {1, 0}));
    EXPECT_EQ(lower(graph_of({scores, z}), {}).steps.size(), 2u);
    EXPECT_EQ(compare_with_reference(graph_of({scores, z}), sum_tolerance(80), 2), "");
}

TEST(DotGeneral, knows_vectors_scalars_and_empty_extents) {
    const Tensor x = core_input({9});
    const Tensor y = shared_input({9});
    const Tensor m = shared_input({9, 6});
    const Tensor scalar = core_input({});
    EXPECT_EQ(
        compare_with_reference(
            graph_of({dot_general(x, y, {{}, {}, {0}, {0}}), dot_general(x, y, {{}, {}, {}, {}}),
                      dot_general(x, y, {{0}, {0}, {}, {}}), dot_general(x, m, {{}, {}, {0}, {0}}),
                      dot_general(m, x, {{}, {}, {0}, {0}}),
                      dot_general(scalar, m, {{}, {}, {}, {}}),
                      dot_general(scalar, scalar, {{}, {}, {}, {}}),
                      dot_general(core_input({3, 0}), shared_input({0, 4}), {{}, {}, {1}, {0}}),
                      dot_general(core_input({0, 3}), shared_input({3, 4}), {{}, {}, {1}, {0}}),
                      dot_general(broadcast_in_dim(x, {5, 9}, {1}), m, {{}, {}, {1}, {0}})}),
            sum_tolerance(9), 3),
        "");
}

struct RandomProduct {
    DType operands = DType::f32, results = DType::f32;
    std::int64_t extent_max = 6;
};

/// Any choice and order of batched and contracted dimensions, of up to five dimensions.
Tensor random_product(const RandomProduct& kind, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto some = [&](std::size_t most) { return std::size_t(random() % (most + 1)); };
    const auto extent = [&] { return 1 + std::int64_t(random() % std::uint64_t(kind.extent_max)); };
    DotAttributes a{{}, {}, {}, {}, kind.results};
    Dims lhs, rhs;
    std::vector<int> kinds;    // 0 batch, 1 contracted, 2 lhs only, 3 rhs only
    for (int role : {0, 1, 2, 3})
        kinds.insert(kinds.end(), some(role < 2 ? 2 : 1) + (role == 1), role);
    std::vector<std::pair<int, std::int64_t>> lhs_dims, rhs_dims;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (kinds[i] != 3) lhs_dims.emplace_back(int(i), extent());
        if (kinds[i] == 3) rhs_dims.emplace_back(int(i), extent());
        if (kinds[i] < 2) rhs_dims.emplace_back(int(i), lhs_dims.back().second);
    }
    std::ranges::shuffle(lhs_dims, random);
    std::ranges::shuffle(rhs_dims, random);
    for (const auto& [label, count] : lhs_dims)
        lhs.push_back(count);
    for (const auto& [label, count] : rhs_dims)
        rhs.push_back(count);
    for (std::size_t i = 0; i < lhs_dims.size(); ++i) {
        const int label = lhs_dims[i].first;
        const int role = kinds[std::size_t(label)];
        const auto other = std::ranges::find(rhs_dims, label, [](auto& d) { return d.first; });
        if (role == 0) a.lhs_batching.push_back(std::int64_t(i));
        if (role == 0) a.rhs_batching.push_back(other - rhs_dims.begin());
        if (role == 1) a.lhs_contracting.push_back(std::int64_t(i));
        if (role == 1) a.rhs_contracting.push_back(other - rhs_dims.begin());
    }
    Tensor y = dot_general(core_input(lhs, kind.operands), shared_input(rhs, kind.operands), a);
    if (random() % 2 == 0) return y;
    Dims permutation(y.dims().size());
    std::iota(permutation.begin(), permutation.end(), std::int64_t{0});
    std::ranges::shuffle(permutation, random);
    return transpose(y, permutation);
}

/// What a sum of `count` products may differ by. Products of bf16 are exact in f32 and summed
/// there; a bf16 result is rounded once, near a tie perhaps to
/// the other neighbour: 2^-7 of it.
Tolerance product_tolerance(std::int64_t count, DType results) {
    Tolerance tolerance = sum_tolerance(count);
    if (results == DType::bf16) tolerance.relative += 1.0 / 128;
    return tolerance;
}

constexpr RandomProduct random_products[] = {
    {DType::f32, DType::f32, 6},   {DType::f32, DType::f32, 14},  {DType::bf16, DType::f32, 6},
    {DType::bf16, DType::f32, 14}, {DType::bf16, DType::bf16, 6}, {DType::bf16, DType::bf16, 14},
};

TEST(DotGeneral, is_what_the_reference_says_for_random_dimensions) {
    for (const RandomProduct& kind : random_products)
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Tensor y = random_product(kind, seed);
            const std::int64_t terms = kind.extent_max * kind.extent_max * kind.extent_max;
            ASSERT_EQ(
                compare_with_reference(graph_of({y}), product_tolerance(terms, kind.results), seed),
                "")
                << "extents up to " << kind.extent_max << ", seed " << seed;
        }
}

// Goal: heads apart in memory are multiplied where they are, and merged where the next product
// wants them: no copies around attention.
TEST(DotGeneral, of_attention_copies_nothing) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const auto split = [](const Tensor& x) {
            return transpose(reshape(x, {3, 20, 4, 8}), {0, 2, 1, 3});
        };
        const Tensor q = split(core_input({3, 20, 32}, dtype));
        const Tensor k = split(core_input({3, 20, 32}, dtype));
        const Tensor v = split(core_input({3, 20, 32}, dtype));
        const Tensor scores = dot_general(q, k, {{0, 1}, {0, 1}, {3}, {3}});
        const Tensor context = dot_general(scores, v, {{0, 1}, {0, 1}, {3}, {2}});
        const Tensor merged = reshape(transpose(context, {0, 2, 1, 3}), {60, 32});
        const Tensor y = dot_general(merged, shared_input({32, 32}, dtype), {{}, {}, {1}, {1}});
        EXPECT_EQ(lower(graph_of({y}), {}).steps.size(), 3u) << steps_of(graph_of({y}));
        // Scores in [-8, 8]: a result is a sum of 32 sums of 20 products with them, rounded in
        // between when they are bf16.
        const Tolerance tolerance =
            dtype == DType::f32 ? Tolerance{1e-4, 1e-5} : Tolerance{1, 0.05};
        EXPECT_EQ(compare_with_reference(graph_of({y}), tolerance, 5), "");
    }
}

// Goal: queries, keys and values that are parts of one value are cut out once, for all products.
TEST(DotGeneral, of_parts_of_one_value_is_what_the_reference_says) {
    const Tensor joined = core_input({2, 40, 3 * 64}, DType::bf16);
    const auto part = [&](std::int64_t i) {
        const Tensor x = slice(joined, {0, 0, i * 64}, {2, 40, (i + 1) * 64}, {1, 1, 1});
        return transpose(reshape(x, {2, 40, 4, 16}), {0, 2, 1, 3});
    };
    const auto across = [&](const Tensor& x, const Tensor& y) {
        return dot_general(x, y, {{0, 1}, {0, 1}, {3}, {3}, DType::f32});
    };
    const Tensor narrow = slice(core_input({9, 20}, DType::bf16), {0, 0}, {9, 7}, {1, 1});
    const Graph graph = graph_of({across(part(0), part(1)), across(part(1), part(2)),
                                  dot_general(narrow, narrow, {{}, {}, {1}, {1}, DType::f32})});
    EXPECT_EQ(lower(graph, {}).steps.size(), 6u) << steps_of(graph);
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(16), 9), "");
}

/// Only the library's blocked products want packing; a machine may lack them.
void expect_packing(const Graph& graph) {
    const std::string steps = steps_of(graph);
    if (steps.find("brg") != std::string::npos) {
        EXPECT_THAT(steps, HasSubstr("pack"));
    }
}

// Goal: one product of f32 matrices goes by the routine that copies its operands; not many.
TEST(DotGeneral, of_one_f32_matrix_each_copies_what_it_reads) {
    const Tensor x = core_input({256, 256}), y = shared_input({256, 256});
    const auto by = [](const Tensor& product) { return steps_of(graph_of({product})); };
    EXPECT_THAT(by(matmul(x, y)), HasSubstr("sgemm"));
    EXPECT_THAT(by(dot_general(x, y, {{}, {}, {0}, {0}})), HasSubstr("sgemm"));
    EXPECT_THAT(
        by(dot_general(core_input({3, 40, 64}), core_input({3, 64, 72}), {{0}, {0}, {2}, {1}})),
        Not(HasSubstr("sgemm")));
}

// Goal: small ones need no code of the library, each way their operands lie; few rows of turned
// weights are products of lines.
TEST(DotGeneral, of_small_f32_matrices_is_what_the_reference_says) {
    const auto by = [](const Tensor& product) { return steps_of(graph_of({product})); };
    for (const std::int64_t lhs_terms : {0, 1}) {
        for (const std::int64_t rhs_terms : {0, 1}) {
            const Tensor x = core_input(lhs_terms == 1 ? Dims{40, 64} : Dims{64, 40});
            const Tensor y = shared_input(rhs_terms == 0 ? Dims{64, 72} : Dims{72, 64});
            const Tensor product = dot_general(x, y, {{}, {}, {lhs_terms}, {rhs_terms}});
            EXPECT_THAT(by(product), HasSubstr("small_product"));
            EXPECT_EQ(compare_with_reference(graph_of({product}), sum_tolerance(64), 17), "");
        }
    }
    const Tensor few_rows =
        dot_general(core_input({8, 64}), shared_input({72, 64}), {{}, {}, {1}, {1}});
    EXPECT_THAT(by(few_rows), HasSubstr("line_product"));
}

// Goal: rows 4 KiB apart that are to be turned around are taken 128 at a time and the rest, each
// way the other operand lies.
TEST(DotGeneral, of_rows_far_apart_turned_around_is_what_the_reference_says) {
    constexpr std::int64_t terms = 300;
    const Tensor far = slice(core_input({terms, 1024}), {0, 0}, {terms, 40}, {1, 1});
    const DotAttributes as_it_lies{{}, {}, {0}, {0}}, turned_around{{}, {}, {0}, {1}};
    const Graph graph = graph_of({dot_general(far, shared_input({terms, 24}), as_it_lies),
                                  dot_general(far, shared_input({24, terms}), turned_around),
                                  dot_general(far, core_input({terms, 1}), as_it_lies),
                                  dot_general(core_input({terms, 24}), far, as_it_lies)});
    EXPECT_THAT(steps_of(graph), HasSubstr("sgemm"));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(terms), 13), "");
}

// Goal: products large enough for the library to pack an operand.
TEST(DotGeneral, of_packed_weights_is_what_the_reference_says) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const Tensor x = core_input({2048, 64}, dtype);
        const Tensor w = shared_input({64, 72}, dtype);
        DotAttributes across{{}, {}, {1}, {0}, DType::f32};
        DotAttributes back{{}, {}, {1}, {1}, DType::f32};
        const Tensor dy = core_input({2048, 72}, dtype);
        const Graph graph = graph_of({reduce(dot_general(x, w, across), {0}, Reduction::add),
                                      reduce(dot_general(dy, w, back), {0}, Reduction::add)});
        expect_packing(graph);
        EXPECT_EQ(compare_with_reference(graph, {1e-3, 1e-4}, 6), "");
    }
}

// Goal: a square matrix and its transpose, which look alike to the library, are packed each.
TEST(DotGeneral, of_square_packed_weights_both_ways_is_what_the_reference_says) {
    for (const DType dtype : {DType::f32, DType::bf16}) {
        const Tensor w = shared_input({64, 64}, dtype);
        std::vector<Tensor> sums;
        for (const std::int64_t contracted : {0, 1})
            sums.push_back(reduce(dot_general(core_input({2048, 64}, dtype), w,
                                              {{}, {}, {1}, {contracted}, DType::f32}),
                                  {0}, Reduction::add));
        const Graph graph = graph_of(sums);
        expect_packing(graph);
        EXPECT_EQ(compare_with_reference(graph, {1e-3, 1e-4}, 6), "") << to_string(dtype);
    }
}

// Goal: rows a multiple of 4096 bytes apart are packed, in the cores' stage when they are theirs.
TEST(DotGeneral, of_rows_that_collide_in_the_cache_is_what_the_reference_says) {
    const Tensor x = slice(core_input({520, 1040}), {0, 7}, {520, 47}, {1, 1});
    const Tensor dy = core_input({520, 1024});
    const Graph graph = graph_of({all_reduce(dot_general(x, dy, {{}, {}, {0}, {0}}))});
    expect_packing(graph);
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(4 * 520), 8), "");
}

TEST(DotGeneral, refuses_double_precision) {
    const Tensor x = core_input({3, 3}, DType::f64);
    EXPECT_THROW(
        lower(graph_of({matmul(x, input({DType::f64, {3, 3}}, Placement::replicated, "y"))}), {}),
        Error);
}

}    // namespace
}    // namespace slipway
