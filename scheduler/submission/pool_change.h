#pragma once

#include <string>
#include <vector>

#include "api/spec/field.h"
#include "scheduler/store/jobs.h"

namespace slipway::submission {

/// What is wrong with a stored job in another pool: no host is of it, or its hosts are too few or
/// too small for the job. All problems are of `/queue/pool`.
std::vector<Problem> check_pool_change(store::Store& store, const store::Job& job,
                                       const std::string& pool);

}    // namespace slipway::submission
