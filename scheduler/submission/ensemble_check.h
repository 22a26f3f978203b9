#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/prediction_spec.h"
#include "scheduler/store/jobs.h"
#include "scheduler/submission/prediction_check.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// The checkpoints of an ensemble: those that are listed, or one of each fold of a cross-validation
/// that has succeeded. They are of one project, of one task whose outputs have a mean, with the
/// same labels, and their jobs read samples alike.
///   from  is_ensemble()
FoundCheckpoints find_ensemble(store::Store& store, const Submitter& submitter,
                               const PredictionSource& from);

/// Whether all jobs, at least one, have divided the same dataset in the same way: only then is one
/// side of the split the same for all of them.
bool share_split(const std::vector<store::Job>& jobs);

/// A side of the split that the jobs do not share.
std::vector<Problem> check_ensemble_split(const PredictionDataSpec& data,
                                          const std::vector<store::Job>& jobs);

}    // namespace slipway::submission
