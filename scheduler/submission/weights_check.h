#pragma once

#include <optional>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"
#include "scheduler/store/datasets.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// What is wrong with the weights that a job is to begin with (at /model/init/from): none, or they
/// are of a checkpoint that the submitter sees, that is kept and that the network can begin with,
/// or a complete upload of the submitter.
std::vector<Problem> check_weights(store::Store& store, const Submitter& submitter,
                                   const JobSpec& spec,
                                   const std::optional<store::Dataset>& dataset);

/// What is wrong with the network that a job is to import (at /model/from): none, or it is a
/// complete upload of the submitter.
std::vector<Problem> check_network(store::Store& store, const Submitter& submitter,
                                   const ModelSpec& model);

}    // namespace slipway::submission
