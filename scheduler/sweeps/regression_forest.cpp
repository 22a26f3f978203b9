// Points stay sorted by each coordinate while boxes are divided: a level of a tree costs points
// times dimensions, whatever its shape. Boxes are kept whole, since the means over all but one or
// two coordinates are sums over boxes; these sums are made with differences at the edges of boxes,
// so that they cost as many steps as there are boxes and cells, not their product.

#include "scheduler/sweeps/regression_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "scheduler/search/random.h"

namespace slipway::sweeps {

namespace {

constexpr int depth_max = 48;

using Indices = std::vector<std::uint32_t>;

/// A bootstrap sample in which each coordinate has its order.
class TreeGrower {
public:
    TreeGrower(const ForestData& data, std::uint64_t seed, std::uint64_t number,
               std::size_t points_min)
        : dimension_(data.dimension), points_min_(points_min) {
        const std::size_t count = data.values.size();
        search::Draws draws(seed, search::DrawSite::importance, number);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t drawn = draws.next_below(count);
            values_.push_back(data.values[drawn]);
            for (std::size_t j = 0; j < dimension_; ++j) {
                const std::size_t at = drawn * dimension_ + j;
                const bool is_free = !data.is_free.empty() && data.is_free[at];
                units_.push_back(is_free ? draws.next_uniform() : data.units[at]);
            }
        }
        orders_.resize(dimension_, Indices(count));
        for (std::size_t j = 0; j < dimension_; ++j) {
            std::iota(orders_[j].begin(), orders_[j].end(), 0u);
            std::ranges::stable_sort(orders_[j], {}, [&](std::uint32_t i) { return unit(i, j); });
        }
        tree_.gains.resize(dimension_);
        goes_left_.resize(count);
        scratch_.resize(count);
    }

    Tree grow() {
        Box whole{std::vector<double>(dimension_, 0), std::vector<double>(dimension_, 1)};
        divide(0, values_.size(), whole, 0);
        return std::move(tree_);
    }

private:
    struct Split {
        std::size_t dimension = 0;
        double at = 0;
        double gain = 0;    // of squared error
    };

    double unit(std::uint32_t point, std::size_t dimension) const {
        return units_[point * dimension_ + dimension];
    }

    /// The points from `begin` to `end` of each order are those in the box.
    void divide(std::size_t begin, std::size_t end, Box& box, int depth) {
        double sum = 0;
        for (std::size_t i = begin; i < end; ++i)
            sum += values_[orders_[0][i]];
        const Split split = depth < depth_max ? best_split(begin, end, sum) : Split{};
        if (split.gain <= 0) {
            box.value = sum / double(end - begin);
            tree_.boxes.push_back(box);
            return;
        }
        tree_.gains[split.dimension] += split.gain;
        const std::size_t middle = partition(begin, end, split);
        const double low = box.low[split.dimension];
        const double high = box.high[split.dimension];
        box.high[split.dimension] = split.at;
        divide(begin, middle, box, depth + 1);
        box.high[split.dimension] = high;
        box.low[split.dimension] = split.at;
        divide(middle, end, box, depth + 1);
        box.low[split.dimension] = low;
    }

    Split best_split(std::size_t begin, std::size_t end, double sum) const {
        Split best;
        const double count = double(end - begin);
        if (end - begin < 2 * points_min_) return best;
        const double first = values_[orders_[0][begin]];
        double spread = 0;
        for (std::size_t i = begin; i < end; ++i)
            spread = std::max(spread, std::abs(values_[orders_[0][i]] - first));
        if (spread == 0) return best;
        best.gain = 1e-12 * spread * spread;    // what rounding may give
        const double base = best.gain;
        for (std::size_t j = 0; j < dimension_; ++j) {
            double left = 0;
            for (std::size_t i = begin; i + points_min_ < end; ++i) {
                left += values_[orders_[j][i]];
                const double here = unit(orders_[j][i], j);
                const double next = unit(orders_[j][i + 1], j);
                const double left_count = double(i + 1 - begin);
                if (i + 1 - begin < points_min_ || !(here < next)) continue;
                const double right = sum - left;
                const double gain = left * left / left_count +
                                    right * right / (count - left_count) - sum * sum / count;
                const double at = here + (next - here) / 2;
                if (gain > best.gain && here < at && at < 1) best = {j, at, gain};
            }
        }
        if (best.gain == base) best.gain = 0;
        return best;
    }

    /// How many go left: they come first in each order, which is kept otherwise.
    std::size_t partition(std::size_t begin, std::size_t end, const Split& split) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t point = orders_[0][i];
            goes_left_[point] = unit(point, split.dimension) < split.at;
        }
        std::size_t middle = begin;
        for (Indices& order : orders_) {
            middle = begin;
            std::size_t right = 0;
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t point = order[i];
                if (goes_left_[point])
                    order[middle++] = point;
                else
                    scratch_[right++] = point;
            }
            std::copy_n(scratch_.begin(), right, order.begin() + std::ptrdiff_t(middle));
        }
        return middle;
    }

    std::size_t dimension_;
    std::size_t points_min_;
    std::vector<double> units_;
    std::vector<double> values_;
    std::vector<Indices> orders_;    // by dimension
    std::vector<char> goes_left_;    // by point
    Indices scratch_;
    Tree tree_;
};

double length_of(const Box& box, std::size_t dimension) {
    return box.high[dimension] - box.low[dimension];
}

double volume_of(const Box& box) {
    double volume = 1;
    for (std::size_t j = 0; j < box.low.size(); ++j)
        volume *= length_of(box, j);
    return volume;
}

double mean_of(const Tree& tree) {
    double mean = 0;
    for (const Box& box : tree.boxes)
        mean += volume_of(box) * box.value;
    return mean;
}

/// The edges of all boxes in one coordinate, from 0 to 1.
std::vector<double> edges_of(const Tree& tree, std::size_t dimension) {
    std::vector<double> edges{0, 1};
    for (const Box& box : tree.boxes)
        edges.push_back(box.low[dimension]);
    std::ranges::sort(edges);
    const auto same = std::ranges::unique(edges);
    edges.erase(same.begin(), same.end());
    return edges;
}

std::size_t cell_of(const std::vector<double>& edges, double edge) {
    return std::size_t(std::ranges::lower_bound(edges, edge) - edges.begin());
}

double variance_of_mean(const Tree& tree, std::size_t dimension, double mean) {
    const std::vector<double> edges = edges_of(tree, dimension);
    if (edges.size() == 2) return 0;
    std::vector<double> cells(edges.size(), 0);
    for (const Box& box : tree.boxes) {
        const double part = volume_of(box) / length_of(box, dimension) * (box.value - mean);
        cells[cell_of(edges, box.low[dimension])] += part;
        cells[cell_of(edges, box.high[dimension])] -= part;
    }
    double sum = 0;
    double variance = 0;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
        sum += cells[i];
        variance += (edges[i + 1] - edges[i]) * sum * sum;
    }
    return variance;
}

}    // namespace

Tree grow_tree(const ForestData& data, std::uint64_t seed, std::uint64_t number,
               std::size_t points_min) {
    return TreeGrower(data, seed, number, points_min).grow();
}

TreeVariance variance_of(const Tree& tree, std::size_t dimension) {
    const double mean = mean_of(tree);
    TreeVariance found{.single = std::vector<double>(dimension)};
    for (const Box& box : tree.boxes)
        found.total += volume_of(box) * (box.value - mean) * (box.value - mean);
    for (std::size_t j = 0; j < dimension; ++j)
        found.single[j] = variance_of_mean(tree, j, mean);
    return found;
}

double pair_variance(const Tree& tree, std::size_t a, std::size_t b, const TreeVariance& of_tree) {
    const std::vector<double> edges_a = edges_of(tree, a);
    const std::vector<double> edges_b = edges_of(tree, b);
    if (edges_a.size() == 2 || edges_b.size() == 2) return 0;    // not divided by one of them
    const double mean = mean_of(tree);
    const std::size_t width = edges_b.size();
    std::vector<double> cells(edges_a.size() * width, 0);
    for (const Box& box : tree.boxes) {
        const double part =
            volume_of(box) / (length_of(box, a) * length_of(box, b)) * (box.value - mean);
        const std::size_t low_a = cell_of(edges_a, box.low[a]) * width;
        const std::size_t high_a = cell_of(edges_a, box.high[a]) * width;
        const std::size_t low_b = cell_of(edges_b, box.low[b]);
        const std::size_t high_b = cell_of(edges_b, box.high[b]);
        cells[low_a + low_b] += part;
        cells[low_a + high_b] -= part;
        cells[high_a + low_b] -= part;
        cells[high_a + high_b] += part;
    }
    double sum_of_squares = 0;
    std::vector<double> above(width, 0);
    for (std::size_t i = 0; i + 1 < edges_a.size(); ++i) {
        double sum = 0;
        for (std::size_t j = 0; j + 1 < width; ++j) {
            sum += cells[i * width + j];
            above[j] += sum;    // all rows so far: the mean in this cell
            sum_of_squares +=
                (edges_a[i + 1] - edges_a[i]) * (edges_b[j + 1] - edges_b[j]) * above[j] * above[j];
        }
    }
    return std::max(0.0, sum_of_squares - of_tree.single[a] - of_tree.single[b]);
}

}    // namespace slipway::sweeps
