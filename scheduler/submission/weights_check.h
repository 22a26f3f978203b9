#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// What is wrong with the weights that a job is to begin with (at /model/init/from): none, or they
/// are of a checkpoint that the asker sees and that is kept, or a complete upload of theirs.
std::vector<Problem> check_weights(store::Store& store, const Submitter& submitter,
                                   const JobSpec& spec);

}    // namespace slipway::submission
