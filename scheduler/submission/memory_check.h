#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// What is wrong with accelerator.memory_bytes on the machines there are: more than any of them has
/// for jobs would wait for ever.
std::vector<Problem> check_memory(store::Store& store, const JobSpec& spec);

}    // namespace slipway::submission
