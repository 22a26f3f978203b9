#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "executor/reference/evaluate.h"

namespace slipway {

/// Small whole numbers: sums are exact, and many elements of a window are equal.
inline ReferenceValue small_numbers(const Tensor& input) {
    Array array(input.shape());
    std::uint32_t seed = 1;
    for (float& value : array.as<float>()) {
        seed = seed * 1664525U + 1013904223U;
        value = float((seed >> 16) % 7) - 3;
    }
    return {array};
}

/// Two graphs of the same inputs come to the same bits, also where windows have several largest
/// elements.
inline void expect_equal_on_ties(const Graph& graph, const Graph& other) {
    std::vector<ReferenceValue> inputs;
    for (const Tensor& input : graph.inputs)
        inputs.push_back(small_numbers(input));
    const auto before = evaluate(graph, inputs, 1), after = evaluate(other, inputs, 1);
    ASSERT_EQ(before.size(), after.size());
    for (std::size_t i = 0; i < before.size(); ++i)
        EXPECT_TRUE(std::ranges::equal(before[i][0].as<float>(), after[i][0].as<float>()))
            << "output " << i;
}

}    // namespace slipway
