#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/passes/pipeline.h"
#include "tests/executor/codegen/run_graph.h"

namespace slipway {
namespace {

/// A random graph over values of a few related shapes: whole arrays, their rows, their columns,
/// what lies between, the same arrays under other dims. Every op keeps numbers within about
/// [-1, 1] and amplifies errors little; what jumps (compare) is applied to inputs only.
class RandomGraph {
public:
    explicit RandomGraph(std::uint64_t seed) : random_(seed) {
        for (std::int64_t& extent : dims_)
            extent = std::int64_t(1 + below(below(4) == 0 ? 40 : 6));
        for (int i = 0; i < 2; ++i) {
            add(input({DType::f32, dims_}, Placement::per_core, "x"));
            add(input({DType::f32, dims_}, Placement::replicated, "w"));
        }
        inputs_ = whole_;
        for (int i = 0; i < 18; ++i)
            add(next());
        for (int i = 0; i < 4; ++i)
            outputs_.push_back(whole_[whole_.size() - 1 - below(12)]);
        outputs_.push_back(part_of(whole_.back()));
        outputs_.push_back(all_reduce(part_of(per_core())));
        if (below(3) == 0) add_gradients();
    }

    Graph graph() const { return graph_of(outputs_); }
    Tolerance tolerance() const {
        return rounds_to_bf16_ ? Tolerance{2e-2, 2e-2} : Tolerance{2e-4, 2e-4};
    }

private:
    std::size_t below(std::size_t bound) { return std::size_t(random_() % bound); }
    void add(const Tensor& tensor) { whole_.push_back(tensor); }
    const Tensor& any() { return whole_[below(whole_.size())]; }
    const Tensor& any_input() { return inputs_[below(inputs_.size())]; }
    std::int64_t count() const { return dims_[0] * dims_[1] * dims_[2]; }

    Tensor per_core() {
        for (;;) {
            const Tensor& x = any();
            if (x.node().placement == Placement::per_core) return x;
        }
    }

    Dims some_dimensions() {
        static const Dims choices[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {0, 1, 2}};
        return choices[below(std::size(choices))];
    }

    /// Reduced over some dimensions, as a mean or the largest or smallest.
    Tensor reduced(const Tensor& x, const Dims& dimensions) {
        std::int64_t elements = 1;
        for (const std::int64_t i : dimensions)
            elements *= dims_[std::size_t(i)];
        if (below(3) != 0)
            return reduce(x, dimensions, Reduction::add) * constant(1.0 / double(elements));
        return reduce(x, dimensions, below(2) == 0 ? Reduction::maximum : Reduction::minimum);
    }

    Tensor part_of(const Tensor& x) { return reduced(x, some_dimensions()); }

    Tensor spread_again(const Tensor& x) {
        const Dims dimensions = some_dimensions();
        Tensor part = reduced(x, dimensions);
        if (below(2) == 0) part = tanh(part);
        if (below(4) == 0) part = part * part;
        Dims kept;
        for (std::int64_t i = 0; i < 3; ++i)
            if (std::ranges::count(dimensions, i) == 0) kept.push_back(i);
        return broadcast_in_dim(part, dims_, kept);
    }

    Tensor function_of(const Tensor& x) {
        switch (below(11)) {
            case 0:
                return tanh(x);
            case 1:
                return exponential(x) * constant(0.35);
            case 2:
                return logistic(x);
            case 3:
                return erf(x);
            case 4:
                return sqrt(abs(x) + constant(0.5)) * constant(0.8);
            case 5:
                return log(abs(x) + constant(1)) * constant(0.9);
            case 6:
                return exponential_minus_one(x) * constant(0.5);
            case 7:
                return x / (abs(x) + constant(1));
            case 8:
                return sine(x);
            case 9:
                return cosine(x);
            default:
                return negate(x);
        }
    }

    Tensor moved(const Tensor& x) {
        switch (below(6)) {
            case 0:
                return reshape(tanh(transpose(x, {2, 0, 1})), dims_);
            case 1:
                return transpose(maximum(transpose(x, {1, 2, 0}), constant(0.1)), {2, 0, 1});
            case 2:
                return reverse(x, {std::int64_t(below(3))});
            case 3: {
                const Tensor flat = reshape(x, {dims_[0] * dims_[1], dims_[2]});
                return reshape(flat - broadcast_in_dim(reduce(flat, {1}, Reduction::maximum),
                                                       flat.dims(), {0}),
                               dims_) *
                       constant(0.5);
            }
            case 4: {
                const Tensor flat = reshape(x, {count()});
                return reshape(flat * flat, dims_);
            }
            default:
                return slice(concatenate({x, tanh(x)}, 1), {0, 0, 0}, dims_, {1, 1, 1});
        }
    }

    Tensor layer(const Tensor& x) {
        const Dims last{dims_[2]};
        switch (below(5)) {
            case 0:
                return softmax(x);
            case 1:
                return layer_norm(
                           x,
                           reshape(slice(inputs_[1], {0, 0, 0}, {1, 1, dims_[2]}, {1, 1, 1}), last),
                           broadcast(constant(0.1), last), 0.5) *
                       constant(0.5);
            case 2:
                return gelu(x, below(2) == 0);
            case 3:
                return log_softmax(x) * constant(0.2);
            default:
                rounds_to_bf16_ = true;
                return convert(convert(x, DType::bf16), DType::f32);
        }
    }

    Tensor next() {
        switch (below(10)) {
            case 0:
                return (any() + any()) * constant(0.5);
            case 1:
                return any() * any();
            case 2:
                return maximum(any(), minimum(any(), constant(0.5)));
            case 3:
            case 4:
                return function_of(any());
            case 5:
                return spread_again(any());
            case 6:
                return moved(any());
            case 7:
                return layer(any());
            case 8:
                return select(compare(any_input(), any_input(), Comparison::gt), any(), any());
            default:
                return below(2) == 0 ? all_reduce(per_core()) * constant(0.25)
                                     : (any() - any()) * constant(0.5);
        }
    }

    /// Of a smooth function alone: a maximum's gradient jumps.
    void add_gradients() {
        const Tensor x = inputs_[0];
        const Tensor w = inputs_[1];
        const Tensor y = gelu(softmax(x * w + tanh(x)) * w, false);
        const Tensor loss = reduce(y * y, {0, 1, 2}, Reduction::add);
        const std::vector<Tensor> of{x, w};
        for (const Tensor& gradient : gradients(loss, of))
            outputs_.push_back(gradient);
    }

    std::mt19937_64 random_;
    Dims dims_{1, 1, 1};
    std::vector<Tensor> whole_, inputs_, outputs_;
    bool rounds_to_bf16_ = false;
};

#ifdef NDEBUG
constexpr std::uint64_t graphs_per_shard = 250;
#else
constexpr std::uint64_t graphs_per_shard = 12;
#endif

class RandomFusion : public testing::TestWithParam<std::uint64_t> {};

// Goal: whatever is fused with whatever, values stay those of the naive evaluator: 2,000 graphs
// over all shards in optimised builds.
// Method: 2e-4 leaves room for some 20 roundings and approximations in a row, amplified a little;
// bf16 in the middle may round the other way, which is 2^-8 of the number, seldom amplified.
TEST_P(RandomFusion, changes_no_value_beyond_rounding) {
    for (std::uint64_t i = 0; i < graphs_per_shard; ++i) {
        const std::uint64_t seed = 1 + GetParam() * graphs_per_shard + i;
        const RandomGraph random(seed);
        const Graph graph = random.graph();
        const auto inputs = random_inputs(graph, 2, seed);
        const auto expected = evaluate(graph, inputs, 2);
        const Graph optimized = optimize(graph).graph;
        const auto actual = run_graph(optimized, inputs, {2, 1});
        for (std::size_t k = 0; k < expected.size(); ++k)
            ASSERT_EQ(difference(actual[k], expected[k], random.tolerance()), "")
                << "seed " << seed << ", output " << k;
        if (i % 10 != 0) continue;
        const auto again = run_graph(optimized, inputs, {2, 2});
        for (std::size_t k = 0; k < expected.size(); ++k)
            ASSERT_EQ(difference(again[k], actual[k], exactly), "") << "seed " << seed;
    }
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomFusion, testing::Range<std::uint64_t>(0, 8));

}    // namespace
}    // namespace slipway
