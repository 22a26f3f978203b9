#pragma once

#include <optional>
#include <vector>

#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/search/search.h"

namespace slipway::sweeps {

/// What is wrong with a sweep, so that none of its trials could be what it asks for: the space and
/// its constraints, the size of a grid, points to start with, what the algorithm cannot do with the
/// job, an objective that the task does not measure. The decoder has found nothing. Fills in
/// max_trials of a grid. Pointers are those of the body.
std::vector<Problem> check_sweep(SweepSpec& spec);

/// `max_trials` has been set. Nothing is wrong with the sweep. `known` are results of earlier ones.
search::Search make_search(const SweepSpec& spec, std::int64_t max_trials,
                           std::vector<search::KnownResult> known = {});

/// The job spec of a trial that trains to `until` (0: as long as the template says). Not named.
/// errors  as search::with_point
Result<Json> trial_spec(const SweepSpec& spec, const search::Point& point, std::int64_t until);

}    // namespace slipway::sweeps
