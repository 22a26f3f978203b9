#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "executor/autodiff/gradients.h"
#include "executor/graph/ops.h"
#include "executor/reference/evaluate.h"
#include "executor/tensor/random.h"

/// Gradients against central differences in f64, by the naive evaluator.
namespace slipway {

/// Where random tests begin: SLIPWAY_TEST_SEED, else 1. Print it with SCOPED_TRACE.
inline std::uint64_t test_seed() {
    const char* text = std::getenv("SLIPWAY_TEST_SEED");
    return text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
}

/// f64 values in [low, high).
inline Array random_values(RandomStream& random, Dims dims, double low, double high) {
    Array array(Shape{DType::f64, std::move(dims)});
    for (double& value : array.as<double>())
        value = low + (high - low) * double(random.next_uniform());
    return array;
}

/// f64 values that all differ by at least 0.1, shuffled, none within 0.05 of 0: for ops with a kink
/// where operands are equal, or at 0.
inline Array distinct_values(RandomStream& random, Dims dims) {
    Array array(Shape{DType::f64, std::move(dims)});
    const auto values = array.as<double>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = 0.1 * (double(i) - double(values.size() / 2)) + 0.05;
        std::swap(values[i], values[random.next_below(i + 1)]);
    }
    return array;
}

/// Builds an expression over the inputs.
using Expression = std::function<Tensor(const std::vector<Tensor>&)>;

/// Compares d/dx of sum(weights * expression(x)), with random weights, for each element of each
/// input.
///
/// The difference is (f(x + h) - f(x - h)) / 2h with h = 1e-5: its own error is about h^2 |f'''| =
/// 1e-10 and, from rounding, 1e-16 |f| / h = 1e-11 |f|. With values and derivatives up to some
/// hundreds, 1e-6 relative (absolute below 1) has two digits to spare and finds any wrong term.
inline void expect_gradients_match(const Expression& expression, const std::vector<Array>& inputs,
                                   RandomStream& random) {
    constexpr double step = 1e-5;
    constexpr double tolerance = 1e-6;
    Graph graph;
    std::vector<ReferenceValue> values;
    for (const Array& array : inputs) {
        graph.inputs.push_back(input(array.shape(), Placement::replicated, "x"));
        values.push_back({array.clone()});
    }
    const std::vector<Tensor> parameters = graph.inputs;
    const Tensor y = expression(parameters);
    graph.inputs.push_back(input(y.shape(), Placement::replicated, "weights"));
    values.push_back({random_values(random, y.dims(), -1, 1)});
    Tensor loss = y * graph.inputs.back();
    loss = reduce(reshape(loss, {loss.shape().element_count()}), {0}, Reduction::add);
    graph.outputs = {loss};
    Graph backward = graph;
    backward.outputs = gradients(loss, parameters);
    const std::vector<ReferenceValue> found = evaluate(backward, values, 1);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto x = values[i][0].as<double>();
        ASSERT_EQ(found[i][0].shape(), inputs[i].shape());
        for (std::size_t n = 0; n < x.size(); ++n) {
            const double middle = x[n];
            x[n] = middle + step;
            const double above = evaluate(graph, values, 1)[0][0].as<double>()[0];
            x[n] = middle - step;
            const double below = evaluate(graph, values, 1)[0][0].as<double>()[0];
            x[n] = middle;
            const double expected = (above - below) / (2 * step);
            EXPECT_NEAR(found[i][0].as<double>()[n], expected,
                        tolerance * std::max(1.0, std::abs(expected)))
                << "input " << i << ", element " << n;
        }
    }
}

}    // namespace slipway
