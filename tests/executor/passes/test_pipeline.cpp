#include "executor/passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/error.h"
#include "executor/graph/ops.h"
#include "executor/graph/print.h"
#include "executor/graph/verify.h"
#include "executor/reference/evaluate.h"
#include "tests/executor/passes/random_graph.h"
#include "tests/support/gradcheck.h"

namespace slipway {
namespace {

using testing::ElementsAre;

/// Bit for bit but for the sign of zero, the one liberty of simplify_algebra; NaN equals NaN.
bool are_equal(const Array& x, const Array& z) {
    return std::ranges::equal(x.as<double>(), z.as<double>(), [](double a, double b) {
        return a == b || (std::isnan(a) && std::isnan(b));
    });
}

void expect_equal_results(const RandomGraph& original, const Graph& rewritten,
                          std::string_view pass) {
    const auto before = evaluate(original.graph, original.inputs, original.cores);
    const auto after = evaluate(rewritten, original.inputs, original.cores);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        ASSERT_EQ(before[i].size(), after[i].size());
        for (std::size_t core = 0; core < before[i].size(); ++core)
            EXPECT_TRUE(are_equal(before[i][core], after[i][core]))
                << pass << " changes output " << i << " on core " << core;
    }
}

// Goal: no pass changes what a graph computes.
// Method: random graphs with their gradients, each pass alone and the whole pipeline, in f64.
TEST(Pipeline, results_stay_the_same) {
    for (std::uint64_t round = 0; round < 200; ++round) {
        SCOPED_TRACE(fmt::format("SLIPWAY_TEST_SEED={} round {}", test_seed(), round));
        RandomStream random(test_seed(), 0, round);
        const RandomGraph original = random_graph(random, 1 + int(random.next_below(20)));
        ASSERT_THAT(broken_laws(original.graph), testing::IsEmpty());
        for (const Pass& pass : pipeline()) {
            const Graph rewritten = pass.rewrite(original.graph, {});
            EXPECT_THAT(broken_laws(rewritten), testing::IsEmpty()) << pass.name;
            expect_equal_results(original, rewritten, pass.name);
        }
        const Graph optimized = optimize(original.graph).graph;
        expect_equal_results(original, optimized, "the pipeline");
        EXPECT_LE(topological_order(optimized).size(), topological_order(original.graph).size());
        if (testing::Test::HasFailure()) FAIL() << print(original.graph);
    }
}

TEST(Pipeline, equal_graphs_stay_equal) {
    RandomStream once(test_seed(), 0, 0);
    RandomStream again(test_seed(), 0, 0);
    const Graph x = optimize(random_graph(once, 30).graph).graph;
    const Graph z = optimize(random_graph(again, 30).graph).graph;
    EXPECT_EQ(print(x), print(z));
    EXPECT_EQ(hash_of(x), hash_of(z));
}

/// A clock that moves on by 1 s at each look.
class TickingClock : public Clock {
public:
    Instant now() const override { return {}; }
    Tick tick() const override { return Tick(std::chrono::seconds(++seconds_)); }

private:
    mutable int seconds_ = 0;
};

Graph with_two_equal_sums() {
    const Tensor x = input({DType::f32, {2}}, Placement::replicated, "x");
    return {{x}, {(x + x) * (x + x) + constant(0)}, {}};
}

TEST(Pipeline, each_pass_is_timed_and_its_nodes_are_counted) {
    const Optimized optimized = optimize(with_two_equal_sums(), {}, TickingClock());
    std::vector<std::string_view> names;
    for (const PassRecord& record : optimized.passes) {
        names.push_back(record.name);
        EXPECT_EQ(record.seconds, 1);
    }
    EXPECT_THAT(names, ElementsAre("expand_composites", "apply_precision", "canonicalize_products",
                                   "fold_constants", "simplify_algebra", "merge_common",
                                   "mask_pooled", "pool_first", "narrow_pools"));
    EXPECT_EQ(optimized.passes.front().nodes_before, 7u);
    EXPECT_EQ(optimized.passes.back().nodes_after, 3u);
}

TEST(Pipeline, passes_can_be_skipped_by_name) {
    OptimizeOptions options;
    options.skip = {"merge_common",    "fold_constants",        "expand_composites",
                    "apply_precision", "canonicalize_products", "mask_pooled",
                    "pool_first",      "narrow_pools"};
    const Optimized optimized = optimize(with_two_equal_sums(), options);
    ASSERT_EQ(optimized.passes.size(), 1u);
    EXPECT_EQ(optimized.passes[0].name, "simplify_algebra");
    EXPECT_EQ(optimized.passes[0].nodes_after, 4u);
    EXPECT_EQ(optimized.passes[0].text, "");
}

TEST(Pipeline, dump_gives_the_text_after_each_pass) {
    OptimizeOptions options;
    options.dump = true;
    const Optimized optimized = optimize(with_two_equal_sums(), options);
    EXPECT_EQ(optimized.passes.back().text, print(optimized.graph));
    EXPECT_NE(optimized.passes.front().text, optimized.passes.back().text);
}

TEST(Pipeline, unknown_name_to_skip_is_refused) {
    OptimizeOptions options;
    options.skip = {"merge_comon"};
    EXPECT_THROW(optimize(with_two_equal_sums(), options), Error);
}

TEST(Pipeline, inputs_outputs_and_donations_keep_their_places) {
    const Tensor unused = input({DType::f32, {2}}, Placement::replicated, "unused");
    const Tensor x = input({DType::f32, {2}}, Placement::replicated, "x");
    const Graph graph{{unused, x}, {x * constant(1), negate(negate(unused))}, {{0, 1}}};
    const Graph optimized = optimize(graph).graph;
    EXPECT_EQ(optimized.inputs, graph.inputs);
    EXPECT_THAT(optimized.outputs, ElementsAre(x, unused));
    ASSERT_EQ(optimized.donations.size(), 1u);
    EXPECT_EQ(optimized.donations[0].input, 1u);
}

TEST(PipelineDeathTest, graph_that_breaks_a_law_stops_the_process) {
    const Tensor x = input({DType::f32, {2}}, Placement::replicated, "x");
    EXPECT_DEATH(optimize({{}, {x}, {}}), "after tracing: an input in use is not listed");
}

}    // namespace
}    // namespace slipway
