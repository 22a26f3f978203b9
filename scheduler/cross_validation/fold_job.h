#pragma once

#include <optional>

#include "api/spec/cross_validation_spec.h"
#include "scheduler/store/cross_validations.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway {

/// Who a cross-validation's jobs are submitted for, and of what.
struct FoldJobSource {
    const store::CrossValidation& cross_validation;
    const CrossValidationSpec& spec;
    const submission::Submitter& submitter;
    store::Store& store;
};

/// Who created it, if they may still submit jobs.
std::optional<submission::Submitter> owner_of(store::Store& store,
                                              const store::CrossValidation& cross_validation);

/// The job that trains a fold, or all samples (StoredFold::refit).
Decoded<submission::CheckedJob> training_of_fold(const FoldJobSource& source, std::int64_t fold);

/// The same of a fold that is tried again: from the newest checkpoint of `fold.job_id`, which did
/// not succeed, or from the beginning when that job is gone.
Decoded<submission::CheckedJob> retraining_of_fold(const FoldJobSource& source,
                                                   const store::StoredFold& fold);

/// The job that predicts the validation samples of a fold with the weights that it is judged by:
/// the last checkpoint of its training, with early stopping that of the best evaluation.
Decoded<submission::CheckedJob> prediction_of_fold(const FoldJobSource& source,
                                                   const store::StoredFold& fold);

}    // namespace slipway
