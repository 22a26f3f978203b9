#pragma once

#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// A job that evaluates: finds its checkpoint and dataset, and makes the spec that runs of the one
/// that trained. Problems as check_training.
/// errors  throws OldJobSpec
Decoded<CheckedJob> check_evaluation(Decoded<EvaluationSpec> request, const Submitter& submitter,
                                     store::Store& store);

}    // namespace slipway::submission
