// Goal: of a batch of one image no loop walks the rows of channels, which lie apart in memory where
// convolutions are.
#include <gtest/gtest.h>

#include <algorithm>

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"
#include "executor/graph/ops.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

/// What batch norm does: subtracts the mean of each channel, by a vector of channels.
Tensor less_its_mean(const Tensor& x, const Dims& reduced, std::int64_t channels) {
    const Tensor mean = reduce(x, reduced, Reduction::add) * constant(0.25);
    const Tensor scale = rsqrt(abs(mean) + constant(1.0));
    EXPECT_EQ(mean.dims(), Dims{channels});
    return x - broadcast_in_dim(scale, x.dims(), {1});
}

bool has_rows(const Graph& graph) {
    const Fusion fusion = fuse(graph, analyse(graph));
    return std::ranges::any_of(fusion.clusters,
                               [](const Cluster& cluster) { return cluster.row_elements > 0; });
}

TEST(FusionOfOneImage, has_no_rows_of_channels) {
    const Tensor x = input({DType::f32, {1, 8, 4, 4}}, Placement::per_core, "x");
    const Graph graph = graph_of({less_its_mean(x, {0, 2, 3}, 8)});
    EXPECT_FALSE(has_rows(graph));
    EXPECT_EQ(compare_with_reference(graph, sum_tolerance(16), 1), "");
}

TEST(FusionOfOneImage, is_that_of_several_images) {
    const auto clusters_of = [](std::int64_t images) {
        const Tensor x = input({DType::f32, {images, 8, 4, 4}}, Placement::per_core, "x");
        const Graph graph = graph_of({less_its_mean(x, {0, 2, 3}, 8)});
        return fuse(graph, analyse(graph)).clusters.size();
    };
    EXPECT_EQ(clusters_of(1), clusters_of(2));
}

// Goal: batch norm's variance and its result each subtract the mean again, and no difference is
// held for the backward pass.
TEST(FusionOfOneImage, subtracts_a_mean_again_where_it_is_read) {
    const auto stored = [](std::int64_t images) {
        const Tensor x = input({DType::f32, {images, 8, 4, 4}}, Placement::per_core, "x");
        const Tensor mean = reduce(x, {0, 2, 3}, Reduction::add) * constant(1.0 / 16);
        const Tensor centred = x - broadcast_in_dim(mean, x.dims(), {1});
        const Tensor variance = reduce(centred * centred, {0, 2, 3}, Reduction::add);
        const Tensor y = centred * broadcast_in_dim(rsqrt(variance), x.dims(), {1});
        const Graph graph = graph_of({y});
        EXPECT_EQ(compare_with_reference(graph, sum_tolerance(32), 1), "");
        return fuse(graph, analyse(graph)).stored.contains(centred.get());
    };
    EXPECT_FALSE(stored(1));
    EXPECT_FALSE(stored(2));
}

// Layer norm's rows are the innermost dimension, also for one sequence.
TEST(FusionOfOneImage, leaves_rows_of_one_sequence) {
    const Tensor x = input({DType::f32, {1, 6, 32}}, Placement::per_core, "x");
    const Tensor mean = reduce(x, {2}, Reduction::add) * constant(1.0 / 32);
    const Graph graph = graph_of({x - broadcast_in_dim(mean, x.dims(), {0, 1})});
    EXPECT_TRUE(has_rows(graph));
}

}    // namespace
}    // namespace slipway
