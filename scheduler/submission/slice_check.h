#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// What is wrong with accelerator.slice on the hosts there are: more of them than are known, living
/// or not, would be waited for for ever.
std::vector<Problem> check_slice(store::Store& store, const JobSpec& spec);

}    // namespace slipway::submission
