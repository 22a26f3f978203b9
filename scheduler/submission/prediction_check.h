#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/prediction_spec.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// What a prediction predicts with, or an evaluation measures: one checkpoint, or those of an
/// ensemble.
struct FoundCheckpoints {
    std::vector<std::string> ids;          ///< empty: there are problems
    std::vector<store::Job> jobs;          ///< that made them; with problems those that were found
    std::vector<Problem> problems = {};    ///< below /from
};

/// The checkpoints that are asked for: each of a job that the asker sees, that trains and has
/// ended, and kept.
FoundCheckpoints find_predicting_checkpoints(store::Store& store, const Submitter& submitter,
                                             const PredictionSource& from);

/// `from` as it is stored: with what was found by id, whatever the request called it.
PredictionSource named_by_id(const FoundCheckpoints& found);

/// The spec of the job that trained.
/// errors  throws OldJobSpec when this version cannot read it
JobSpec trained_spec(const store::Job& trained);

bool has_problem_at(const std::vector<Problem>& problems, std::string_view prefix);

/// What of the data cannot be predicted by this job: a side of its split on another dataset than
/// its own; a part that it does not have; text by a network for samples, and samples by one for
/// text; a table by one for images, and the reverse; more classes than it has. What only the files
/// tell is found when the prediction starts.
std::vector<Problem> check_predicted_data(store::Store& store, const PredictionDataSpec& data,
                                          const store::Dataset& dataset, const store::Job& trained);

}    // namespace slipway::submission
