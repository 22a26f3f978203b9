#pragma once

#include <memory>

#include "scheduler/search/policy.h"
#include "scheduler/search/random.h"
#include "scheduler/search/space.h"

namespace slipway::search {

/// Population based training (Jaderberg et al., 2017) in generations: `population` trials train for
/// `interval`, pause, and are ranked by their last values when all have arrived. The worst
/// ceil(quantile * n), at most half, each take over the checkpoint of one of as many best, drawn at
/// random, and its parameters, perturbed; these are drawn again, up to 20 times, while another
/// member goes on with the same weights and values. Then the next generation begins. Trials that
/// failed leave the population. It ends at max_time, or when no trial has a finite value.
std::unique_ptr<TrialPolicy> pbt_policy(const AlgorithmSpec& spec, const Space& space,
                                        std::uint64_t seed);

/// A neighbour of `point`: each parameter is drawn again with probability resample_probability.
/// Otherwise a number is multiplied or divided by perturbation, stays within its bounds and moves
/// by at least one quantum; an ordered choice moves to a neighbouring value; another choice stays.
/// None when 100 tries break a constraint.
struct Explored {
    std::vector<double> unit;
    Point point;
};
std::optional<Explored> explored(const Space& space, const Point& point, const AlgorithmSpec& spec,
                                 Draws& draws);

}    // namespace slipway::search
