#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "executor/autodiff/gradients.h"
#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "tests/executor/codegen/run_graph.h"

// What is left out of causal attention changes nothing, and nothing is left out that is read.
namespace slipway {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Extents {
    std::int64_t samples, heads, tokens, depth;
};

/// Queries, keys and values as parts of one value, as networks make them.
struct Parts {
    explicit Parts(const Extents& e)
        : joined(input({DType::f32, {e.samples, e.tokens, 3 * e.heads * e.depth}},
                       Placement::per_core, "x")),
          extents(e) {}

    Tensor part(std::int64_t i) const {
        const std::int64_t width = extents.heads * extents.depth;
        const Tensor x = slice(joined, {0, 0, i * width},
                               {extents.samples, extents.tokens, (i + 1) * width}, {1, 1, 1});
        return transpose(
            reshape(x, {extents.samples, extents.tokens, extents.heads, extents.depth}),
            {0, 2, 1, 3});
    }
    Tensor attended() const { return attention(part(0), part(1), part(2), 0.3, true, {}); }

    Tensor joined;
    Extents extents;
};

/// The result and the gradient of a function of it.
Graph training_graph(const Parts& parts, PrecisionPolicy precision) {
    const Tensor y = transpose(parts.attended(), {0, 2, 1, 3});
    const Tensor loss = reduce(y * y, {0, 1, 2, 3}, Reduction::add);
    const std::vector<Tensor> wanted{parts.joined};
    Graph graph{{parts.joined}, {y, gradients(loss, wanted)[0]}, {}};
    return optimize(graph, {.passes = {.precision = precision}}).graph;
}

std::string steps_of(const Graph& graph) {
    std::string text;
    for (const Step& step : lower(graph, {}).steps)
        text += step.name + "\n";
    return text;
}

/// f32: sums of up to 256 products of numbers below 2, four products deep. bf16: the naive
/// evaluator rounds the same values, near a tie to the other neighbour (2^-8 of it), and a
/// gradient adds up to 256 terms of such differences, most far below 1.
Tolerance tolerance_of(PrecisionPolicy precision) {
    return precision == PrecisionPolicy::f32 ? Tolerance{2e-5, 1e-4} : Tolerance{0.03, 0.03};
}

// Goal: tokens fewer than a block, whole blocks, and blocks of unequal size.
TEST(CausalAttention, is_what_the_reference_says_forward_and_backward) {
    constexpr Extents all[] = {{1, 1, 1, 4},    {2, 1, 63, 8},   {1, 2, 128, 8},
                               {2, 2, 130, 16}, {1, 3, 200, 24}, {1, 1, 256, 33}};
    for (const Extents& extents : all)
        for (const PrecisionPolicy precision : {PrecisionPolicy::f32, PrecisionPolicy::bf16})
            EXPECT_EQ(compare_with_reference(training_graph(Parts(extents), precision),
                                             tolerance_of(precision), 3),
                      "")
                << extents.tokens << " tokens, precision " << int(precision);
}

// Goal: the test above sees kernels that leave something out.
TEST(CausalAttention, multiplies_in_parts_from_two_blocks_on) {
    const auto steps = [](std::int64_t tokens, PrecisionPolicy precision) {
        return steps_of(training_graph(Parts({2, 2, tokens, 16}), precision));
    };
    EXPECT_THAT(steps(256, PrecisionPolicy::f32), HasSubstr("in 4 parts"));
    EXPECT_THAT(steps(128, PrecisionPolicy::f32), HasSubstr("in 2 parts"));
    EXPECT_THAT(steps(127, PrecisionPolicy::f32), Not(HasSubstr("parts")));
    EXPECT_THAT(steps(256, PrecisionPolicy::bf16), Not(HasSubstr("parts")));
}

std::vector<ReferenceValue> filled_inputs(const Graph& graph, int cores, float value) {
    std::vector<ReferenceValue> inputs = random_inputs(graph, cores, 1);
    for (ReferenceValue& input : inputs)
        for (Array& array : input)
            std::ranges::fill(array.as<float>(), value);
    return inputs;
}

// Goal: what lies beyond the causal blocks reaches nobody.
// Method: memory is full of what a run made of NaN; the next run is as without it.
TEST(CausalAttention, does_not_see_what_memory_held_before) {
    for (const PrecisionPolicy precision : {PrecisionPolicy::f32, PrecisionPolicy::bf16}) {
        const Graph graph = training_graph(Parts({2, 2, 200, 16}), precision);
        const Team team{2, 1};
        const auto inputs = random_inputs(graph, team.cores, 5);
        const auto spoilt =
            filled_inputs(graph, team.cores, std::numeric_limits<float>::quiet_NaN());
        const auto clean = run_graph(graph, inputs, team, inputs);
        const auto after_nan = run_graph(graph, inputs, team, spoilt);
        for (std::size_t i = 0; i < clean.size(); ++i)
            EXPECT_EQ(difference(after_nan[i], clean[i], exactly), "");
    }
}

TEST(CausalAttention, has_the_same_bits_for_any_number_of_threads) {
    for (const PrecisionPolicy precision : {PrecisionPolicy::f32, PrecisionPolicy::bf16}) {
        const Graph graph = training_graph(Parts({1, 2, 150, 16}), precision);
        const auto inputs = random_inputs(graph, 8, 6);
        const auto alone = run_graph(graph, inputs, {8, 1});
        for (const int workers : {2, 4, 8}) {
            const auto together = run_graph(graph, inputs, {8, workers});
            for (std::size_t i = 0; i < alone.size(); ++i)
                EXPECT_EQ(difference(together[i], alone[i], exactly), "") << workers << " workers";
        }
    }
}

// Goal: probabilities that somebody else reads are whole, with zeros.
TEST(CausalAttention, gives_all_probabilities_to_those_who_ask) {
    for (const PrecisionPolicy precision : {PrecisionPolicy::f32, PrecisionPolicy::bf16}) {
        const Tensor y = Parts({1, 2, 150, 16}).attended();
        const Graph graph =
            optimize(graph_of({y, get_result(y, 1), reduce(get_result(y, 1), {3}, Reduction::add)}),
                     {.passes = {.precision = precision}})
                .graph;
        EXPECT_EQ(compare_with_reference(graph, tolerance_of(precision), 7), "");
    }
}

// Goal: scores that somebody else reads are whole.
TEST(CausalAttention, gives_all_scores_to_those_who_ask) {
    const Dims dims{3, 140, 140};
    const Tensor q = input({DType::f32, {3, 140, 16}}, Placement::per_core, "q");
    const Tensor mask =
        compare(iota({DType::i32, dims}, 1), iota({DType::i32, dims}, 2), Comparison::ge);
    const Tensor scores = dot_general(q, q, {{0}, {0}, {2}, {2}});
    const Tensor kept = select(mask, scores, broadcast(constant(0), dims));
    const Tensor y = dot_general(kept, q, {{0}, {0}, {2}, {1}});
    const std::vector<Tensor> readers{
        scores,
        exponential(scores),
        transpose(scores, {0, 2, 1}),
        reduce(scores, {1}, Reduction::add),
        dot_general(scores, q, {{0}, {0}, {2}, {1}}),
        select(mask, broadcast(constant(0), dims), scores),
        select(compare(scores, broadcast(constant(0), dims), Comparison::gt), kept, scores)};
    for (const Tensor& reader : readers)
        EXPECT_EQ(compare_with_reference(graph_of({y, reader}), {2e-3, 1e-4}, 8), "");
    EXPECT_EQ(compare_with_reference(graph_of({y}), {2e-3, 1e-4}, 8), "");
}

// Goal: sums and largest elements of rows end with the causal block where that changes nothing, and
// only there.
TEST(CausalAttention, reduces_rows_as_the_reference_does) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const Dims dims{2, 150, 150};
    const Tensor x = input({DType::f32, dims}, Placement::per_core, "x");
    const Tensor mask =
        compare(iota({DType::i32, dims}, 1), iota({DType::i32, dims}, 2), Comparison::ge);
    const auto masked = [&](const Tensor& of, double hidden) {
        return select(mask, of, broadcast(constant(hidden), dims));
    };
    for (const double hidden : {0.0, -infinity, 2.0})
        for (const Reduction reduction : {Reduction::maximum, Reduction::add}) {
            if (hidden == -infinity && reduction == Reduction::add) continue;
            const Tensor row = reduce(masked(x, hidden), {2}, reduction);
            const Tensor column = reduce(masked(x, hidden), {1}, reduction);
            const Tensor y = masked(x * broadcast_in_dim(row, dims, {0, 1}), 0);
            EXPECT_EQ(compare_with_reference(graph_of({y, row}), {1e-4, 1e-5}, 9), "");
            EXPECT_EQ(compare_with_reference(graph_of({y, row, column}), {1e-4, 1e-5}, 9), "");
        }
}

}    // namespace
}    // namespace slipway
