#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/search/space.h"

namespace slipway::search {

/// Characters of a text that is a value of a parameter; of a list or an object those of its JSON.
constexpr std::size_t value_characters_max = 1000;

/// What of a new space would cost too much time or memory: longer values, more steps of constraints
/// than condition_steps_max. Not asked of stored sweeps, which may be older than the limits.
std::vector<Problem> space_limit_problems(const SearchSpace& source, const Space& space);

}    // namespace slipway::search
