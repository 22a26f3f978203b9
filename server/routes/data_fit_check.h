#pragma once

#include <string>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "server/routes/services.h"

namespace slipway::routes {

/// What the check of the dataset has found that the job cannot train on: one class for a
/// classification, images of several sizes that nothing brings to one. None before the check has
/// ended: the job says it then.
std::vector<Problem> check_data_fit(const Context& context, const JobSpec& spec,
                                    const std::string& dataset_id);

}    // namespace slipway::routes
