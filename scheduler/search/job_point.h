#pragma once

#include <vector>

#include "api/base/result.h"
#include "scheduler/search/space.h"

namespace slipway::search {

/// `job` with the values of `point` at their paths. Objects on the way are made; elements of arrays
/// must exist. Whether the result is a job is for decode_job_spec to say.
/// errors  invalid_argument: a path leads into something that is no object and no array
Result<Json> with_point(const Json& job, const Point& point);

/// Whether the space fits the job: every path is one of a job spec's fields, and every value of a
/// choice, both bounds of a range and the likely extremes of a normal parameter give a job that can
/// be decoded, the other parameters being at their first values. Pointers: /space/… where a
/// parameter is at fault, /job/… where the job is whatever the parameters are.
std::vector<Problem> space_problems(const Space& space, const Json& job);

}    // namespace slipway::search
