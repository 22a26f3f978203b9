#pragma once

#include <cstddef>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"

namespace slipway::submission {

/// Of a job's spec with every default filled in, as it is stored and given to its executor
/// (attempt_order_bytes_max, with the dataset's options and what the job begins with).
inline constexpr std::size_t job_spec_bytes_max = std::size_t{2} << 20;

/// What is wrong with the size of the spec, at the field that takes most of it: none, or one
/// problem. One request has a megabyte at most; a fork of forks has the fields of several.
std::vector<Problem> check_size(const JobSpec& spec);

}    // namespace slipway::submission
