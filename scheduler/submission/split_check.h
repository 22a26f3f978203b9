#pragma once

#include <string>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/store.h"

namespace slipway::submission {

/// What is wrong with the stored split that a job names (at /data/split): none, or it is ready, of
/// the job's dataset, and has the fold. `dataset_id` may be empty when the dataset is wrong itself.
std::vector<Problem> check_split(store::Store& store, const JobSpec& spec,
                                 const std::string& dataset_id);

}    // namespace slipway::submission
