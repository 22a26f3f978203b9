#pragma once

#include <string>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "server/routes/handlers.h"

namespace slipway::routes {

/// What is wrong with the version of the dataset that a job wants (at /data/version): none, or it
/// is the dataset's content hash, or how that begins; then the spec gets the whole hash.
/// `dataset_id` may be empty when the dataset is wrong itself.
std::vector<Problem> check_version(const Context& context, JobSpec& spec,
                                   const std::string& dataset_id);

}    // namespace slipway::routes
