#pragma once

#include "api/spec/cross_validation_spec.h"
#include "scheduler/store/cross_validations.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway {

/// A cross-validation that can be stored: its job is one that every fold can run, its dataset is
/// checked, its split fits.
struct CheckedCrossValidation {
    CrossValidationSpec spec;
    submission::CheckedJob job;                             ///< of a fold, but for its split
    std::optional<store::StoredSplit> stored_split = {};    ///< that split_id names
    std::vector<Problem> warnings = {};                     ///< what it probably does not mean
};

/// Problems of the decoding are kept, and those of the artifacts follow, with pointers into the
/// request.
Decoded<CheckedCrossValidation> check_cross_validation(Decoded<CrossValidationSpec> request,
                                                       const submission::Submitter& submitter,
                                                       store::Store& store);

/// How many folds it will have; none where only the data tell (leave_one_group_out).
std::optional<std::int64_t> folds_of(const CheckedCrossValidation& checked);

/// As it is stored, with a name of its own when the request has none, and the split to make, if
/// any.
struct StorableCrossValidation {
    store::CrossValidation wanted;
    std::optional<store::StoredSplit> split;
};
StorableCrossValidation storable(CheckedCrossValidation checked, const std::string& token_id);

}    // namespace slipway
