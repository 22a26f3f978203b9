#pragma once

#include <optional>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

/// What the check of the dataset has found that the job cannot train on: a network for other
/// samples, labels of another kind than the task's, one class for a classification, columns that do
/// not exist, images of several sizes that nothing brings to one. None before the check has ended:
/// the job says it then.
std::vector<Problem> check_data_fit(const JobSpec& spec,
                                    const std::optional<store::Dataset>& dataset);

}    // namespace slipway::submission
