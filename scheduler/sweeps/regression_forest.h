#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace slipway::sweeps {

/// Points of the unit cube and their values.
struct ForestData {
    std::size_t dimension = 0;
    std::vector<double> units;     ///< point by point; of size dimension * values.size()
    std::vector<double> values;    ///< finite
    /// By point and dimension, where not empty: the value does not depend on the coordinate. Each
    /// tree draws it again.
    std::vector<bool> is_free = {};
};

/// A tree divides the cube into boxes, each with a value.
struct Box {
    std::vector<double> low;
    std::vector<double> high;
    double value = 0;
};
struct Tree {
    std::vector<Box> boxes;
    std::vector<double> gains;    ///< by dimension: of the squared error, of all its splits
};

/// A regression tree over a bootstrap sample of the points, grown until a box has one value or
/// fewer than `points_min` points: each split is the one, of all parameters, that leaves the least
/// squared error. `number` of the tree and `seed` decide everything random.
Tree grow_tree(const ForestData& data, std::uint64_t seed, std::uint64_t number,
               std::size_t points_min);

/// How much of the variance of a tree over the whole cube its parts have (functional ANOVA).
struct TreeVariance {
    double total = 0;
    std::vector<double> single;    ///< by dimension: of the mean over all others
};
TreeVariance variance_of(const Tree& tree, std::size_t dimension);

/// The variance of the mean over all dimensions but `a` and `b`, without the single parts of both.
double pair_variance(const Tree& tree, std::size_t a, std::size_t b, const TreeVariance& of_tree);

}    // namespace slipway::sweeps
