// Goal: what a later stage reads is computed there again where that takes no more memory than to
// keep it: batch norm over the cores holds what the layer before it left, not what is made of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/codegen/lower.h"
#include "executor/codegen/onednn/matmul.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

constexpr std::int64_t rows = 48, columns = 32;

Tensor core_input(DType dtype) {
    return input({dtype, {rows, columns}}, Placement::per_core, "x");
}

Tensor weights(DType dtype) {
    return input({dtype, {columns, columns}}, Placement::replicated, "w");
}

/// By column, over the rows of all cores, more or less.
Tensor mean_of_all(const Tensor& x) {
    return all_reduce(reduce(x, {0}, Reduction::add)) * constant(1.0 / 128);
}

Tensor by_row(const Tensor& of_columns) {
    return broadcast_in_dim(of_columns, {rows, columns}, {1});
}

/// A layer whose results are normalised over all cores, in three stages.
struct Normalised {
    Tensor wide, centered, scaled;
    Graph graph;

    explicit Normalised(DType dtype) {
        wide = convert(matmul(core_input(dtype), weights(dtype)), DType::f32);
        centered = wide - by_row(mean_of_all(wide));
        scaled = centered * by_row(rsqrt(mean_of_all(centered * centered) + constant(1.0)));
        const Tensor later = mean_of_all(scaled * scaled * scaled);
        graph = graph_of({tanh(scaled * by_row(later))});
    }
};

/// Bytes of what each core holds between stages.
std::int64_t core_bytes(const Graph& graph) {
    return lower(graph, {.workers = 2, .cores = 4}).arena_bytes[std::size_t(Region::core)];
}

TEST(FusionOfStages, computes_again_what_is_made_of_no_more) {
    const Normalised normalised(DType::f32);
    const Fusion fusion = fuse(normalised.graph, analyse(normalised.graph));
    EXPECT_TRUE(fusion.inlined.contains(normalised.centered.get()));
    EXPECT_TRUE(fusion.inlined.contains(normalised.scaled.get()));
    EXPECT_EQ(core_bytes(normalised.graph), rows * columns * 4);
}

TEST(FusionOfStages, keeps_what_is_narrower) {
    if (!multiplies_bf16()) GTEST_SKIP() << "the library has no bf16 on this processor";
    EXPECT_EQ(core_bytes(Normalised(DType::bf16).graph), rows * columns * 2);
}

TEST(FusionOfStages, is_what_the_reference_says) {
    const Tolerance tolerance{.absolute = 1e-4, .relative = 1e-4};
    EXPECT_EQ(compare_with_reference(Normalised(DType::f32).graph, tolerance, 5), "");
}

TEST(FusionOfStages, has_the_same_bits_on_any_number_of_workers) {
    const Graph graph = Normalised(DType::f32).graph;
    const auto inputs = random_inputs(graph, 8, 11);
    expect_same_bits_on_any_workers(graph, inputs);
}

/// Whether a value that its own stage and a later one read is computed again.
bool is_computed_again(const Tensor& value) {
    const Graph graph = graph_of({tanh(value - by_row(mean_of_all(value)))});
    return fuse(graph, analyse(graph)).inlined.contains(value.get());
}

TEST(FusionOfStages, keeps_what_is_made_of_more) {
    const auto layer = [] { return matmul(core_input(DType::f32), weights(DType::f32)); };
    EXPECT_TRUE(is_computed_again(layer() * constant(2.0)));
    EXPECT_FALSE(is_computed_again(layer() * layer())) << "two values in the place of one";
    EXPECT_FALSE(is_computed_again(tanh(layer()))) << "takes longer than a load";
    EXPECT_FALSE(is_computed_again(layer())) << "a product";
}

TEST(FusionOfStages, keeps_what_others_than_loops_read) {
    const Tensor value = matmul(core_input(DType::f32), weights(DType::f32)) * constant(2.0);
    const Tensor later = value - by_row(mean_of_all(value));
    const Graph graph = graph_of({tanh(later), matmul(value, weights(DType::f32))});
    EXPECT_FALSE(fuse(graph, analyse(graph)).inlined.contains(value.get()));
    EXPECT_EQ(compare_with_reference(graph, {.absolute = 1e-4, .relative = 1e-4}, 5), "");
}

}    // namespace
}    // namespace slipway
