#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// What is wrong with queue.pool on the hosts there are: a job would wait for ever for a pool that
/// none of them, living or not, is of.
std::vector<Problem> check_pool(store::Store& store, const QueueSpec& queue);

/// A job that states no limit of time gets the one of its pool, if the operator has set one.
void fill_time_limit(store::Store& store, const QueueSpec& queue, LimitsSpec& limits);

}    // namespace slipway::submission
