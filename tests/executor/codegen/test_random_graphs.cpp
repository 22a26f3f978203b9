#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "executor/codegen/lower.h"
#include "executor/graph/ops.h"
#include "executor/graph/verify.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

/// A random graph over [size, size] values. Every op keeps numbers within about [-1, 1], so
/// rounding errors stay in proportion; what jumps (compare) is applied to inputs only.
class RandomGraph {
public:
    RandomGraph(std::uint64_t seed, std::int64_t size) : random_(seed), n_(size) {
        for (int i = 0; i < 3; ++i) {
            add(input(shape(), Placement::replicated, "w"));
            add(input(shape(), Placement::per_core, "x"));
        }
        graph_.inputs = values_;
        for (int i = 0; i < 30; ++i)
            add(next());
        for (int i = 0; i < 6; ++i)
            graph_.outputs.push_back(values_[values_.size() - 1 - below(25)]);
        donate();
    }

    const Graph& graph() const { return graph_; }

private:
    Shape shape() const { return {DType::f32, {n_, n_}}; }
    std::size_t below(std::size_t bound) { return std::size_t(random_() % bound); }
    void add(const Tensor& tensor) { values_.push_back(tensor); }
    const Tensor& any() { return values_[below(values_.size())]; }
    const Tensor& any_input() { return values_[below(6)]; }

    Tensor per_core() {
        for (;;) {
            const Tensor& x = any();
            if (x.node().placement == Placement::per_core) return x;
        }
    }

    Tensor next() {
        const Tensor half = constant(0.5);
        switch (below(16)) {
            case 0:
                return (any() + any()) * half;
            case 1:
                return any() * any();
            case 2:
                return maximum(any(), any());
            case 3:
                return tanh(any());
            case 4:
                return exponential(any()) * constant(0.3);
            case 5:
                return transpose(any(), {1, 0});
            case 6:
                return reverse(any(), {std::int64_t(below(2))});
            case 7:
                return matmul(any(), any()) * constant(1.0 / double(n_));
            case 8:
                return matmul(any(), transpose(any(), {1, 0})) * constant(1.0 / double(n_));
            case 9:
                return broadcast_in_dim(reduce(any(), {1}, Reduction::add), {n_, n_}, {0}) *
                       constant(1.0 / double(n_));
            case 10:
                return broadcast_in_dim(reduce(any(), {0}, Reduction::maximum), {n_, n_}, {1});
            case 11:
                return all_reduce(per_core()) * constant(0.25);
            case 12:
                return all_reduce(per_core(), Reduction::maximum);
            case 13:
                return select(compare(any_input(), any_input(), Comparison::gt), any(), any());
            case 14:
                return reshape(max_pool_2d(reshape(pad(any(), 0, {{0, 0}, {0, 0}, {1, 1}}),
                                                   {1, 1, 2 * n_ - 1, 2 * n_ - 1}),
                                           1, 2),
                               {n_, n_});
            default:
                return reshape(
                           convolution_2d(
                               reshape(any(), {1, 1, n_, n_}),
                               reshape(slice(any(), {0, 0}, {3, 3}, {1, 1}), {1, 1, 3, 3}), 1, 1),
                           {n_, n_}) *
                       constant(0.2);
        }
    }

    void donate() {
        std::vector<bool> taken(graph_.inputs.size());
        for (std::size_t output = 0; output < graph_.outputs.size(); ++output) {
            if (graph_.outputs[output].node().placement != Placement::replicated) continue;
            const std::size_t input = 2 * below(3);
            if (taken[input] || below(2) == 0) continue;
            taken[input] = true;
            graph_.donations.push_back({output, input});
        }
    }

    std::mt19937_64 random_;
    std::int64_t n_;
    std::vector<Tensor> values_;
    Graph graph_;
};

constexpr std::uint64_t seeds = 60;

// Goal: placements, stages, views, groups, donations and shared memory together change no value.
// Method: 30 random ops each; 1e-4 leaves room for 30 roundings in a row, amplified a little.
TEST(RandomGraphs, are_what_the_reference_says) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const RandomGraph random(seed, 12);
        ASSERT_THAT(broken_laws(random.graph()), testing::IsEmpty());
        ASSERT_EQ(compare_with_reference(random.graph(), {1e-4, 1e-4}, seed), "");
    }
}

void check_bits(const RandomGraph& random, std::uint64_t seed) {
    const auto inputs = random_inputs(random.graph(), 8, seed);
    const auto expected = run_graph(random.graph(), inputs, {8, 1});
    for (const int workers : {2, 3, 4, 8}) {
        const auto actual = run_graph(random.graph(), inputs, {8, workers});
        for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(difference(actual[i], expected[i], exactly), "")
                << "seed " << seed << ", " << workers << " workers, output " << i;
    }
}

TEST(RandomGraphs, have_the_same_bits_on_any_number_of_workers) {
    for (std::uint64_t seed = 1; seed <= seeds / 3; ++seed)
        check_bits(RandomGraph(seed, 12), seed);
}

// Large enough for replicated steps to be sliced over the workers.
TEST(RandomGraphs, have_the_same_bits_when_steps_are_sliced) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
        check_bits(RandomGraph(seed, 130), seed);
}

}    // namespace
}    // namespace slipway
