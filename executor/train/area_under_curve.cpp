#include "executor/train/area_under_curve.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "api/base/check.h"

namespace slipway {

std::optional<double> area_under_curve(std::span<const float> scores, std::span<const bool> there) {
    check(scores.size() == there.size(), "each score is of a sample that has the label or not");
    if (std::ranges::any_of(scores, [](float score) { return std::isnan(score); }))
        return std::nullopt;
    std::vector<std::size_t> order(scores.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) { return scores[i]; });
    double having = 0;
    double rank_sum = 0;    // of those that have it; ranks begin at 1
    for (std::size_t first = 0; first < order.size();) {
        std::size_t end = first;
        double tied = 0;
        for (; end < order.size() && scores[order[end]] == scores[order[first]]; ++end)
            tied += there[order[end]] ? 1 : 0;
        having += tied;
        rank_sum += tied * (double(first + 1) + double(end)) / 2;
        first = end;
    }
    const double lacking = double(scores.size()) - having;
    if (having == 0 || lacking == 0) return std::nullopt;
    return (rank_sum - having * (having + 1) / 2) / (having * lacking);
}

}    // namespace slipway
