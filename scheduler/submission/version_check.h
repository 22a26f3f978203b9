#pragma once

#include <optional>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/datasets.h"

namespace slipway::submission {

/// What is wrong with the version of the dataset that a job wants (at /data/version): none, or it
/// is the dataset's content hash, or how that begins; then the spec gets the whole hash.
/// `dataset` is none when the dataset is wrong itself.
std::vector<Problem> check_version(JobSpec& spec, const std::optional<store::Dataset>& dataset);

}    // namespace slipway::submission
