#include "scheduler/submission/checked_job.h"

#include <algorithm>

namespace slipway::submission {

void add_problems(std::vector<Problem>& problems, std::vector<Problem> more) {
    for (Problem& problem : more) {
        const bool told = std::ranges::any_of(
            problems, [&](const Problem& one) { return one.pointer == problem.pointer; });
        if (!told) problems.push_back(std::move(problem));
    }
}

}    // namespace slipway::submission
