#pragma once

#include <optional>
#include <vector>

#include "api/spec/documents.h"
#include "api/spec/sweep_spec.h"
#include "scheduler/search/search.h"
#include "scheduler/store/sweeps.h"

namespace slipway::sweeps {

/// What is wrong with a sweep, so that none of its trials could be what it asks for: the space and
/// its constraints, the size of a grid, points to start with, what the algorithm cannot do with the
/// job, an objective that the task does not measure. The decoder has found nothing. Fills in
/// max_trials of a grid. Pointers are those of the body.
std::vector<Problem> check_sweep(SweepSpec& spec);

/// The folds that the trials of a sweep of cross-validations have, once their split is made.
struct SweepFolds {
    std::string dataset_id;
    std::vector<search::FoldSize> sizes;
};
/// As store::Sweep::folds; nothing of an empty text.
SweepFolds decode_folds(const store::JsonText& folds);
store::JsonText encode_folds(const SweepFolds& folds);

/// `max_trials` has been set. Nothing is wrong with the sweep. `known` are results of earlier ones.
search::Search make_search(const SweepSpec& spec, std::int64_t max_trials,
                           std::vector<search::KnownResult> known = {},
                           std::vector<search::FoldSize> folds = {});

/// The job spec of a trial that trains to `until` (0: as long as the template says). Not named. Its
/// best checkpoint is that of the objective.
/// errors  as search::with_point
Result<Json> trial_spec(const SweepSpec& spec, const search::Point& point, std::int64_t until);

/// That of one fold of a trial that is a cross-validation. errors  likewise
Result<Json> fold_spec(const SweepSpec& spec, const search::Point& point,
                       const std::string& dataset_id, const std::string& split_id,
                       std::int64_t fold);

/// Whether what a trial reports may end it, or the sweep, while it trains.
bool judges_running_trials(const SweepSpec& spec);

/// The metric of a job that the objective is made of: val_loss of cv.val_loss.mean.
std::string measured_metric(const SweepSpec& spec);

/// A trial's cross-validation as a request of its own, to be checked as one.
Result<Json> cross_validation_of(const SweepSpec& spec, const search::Point& point);

}    // namespace slipway::sweeps
