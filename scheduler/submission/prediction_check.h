#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "api/spec/field.h"
#include "api/spec/prediction_spec.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// What a prediction predicts with.
struct FoundCheckpoint {
    std::string id;                        ///< empty: there are problems
    std::optional<store::Job> job;         ///< that made it
    std::vector<Problem> problems = {};    ///< at /from/job or /from/checkpoint
};

/// The checkpoint that is asked for: of a job that the asker sees, that trains and has ended, and
/// kept. The answer's job is there whenever it was found.
FoundCheckpoint find_predicting_checkpoint(store::Store& store, const Submitter& submitter,
                                           const PredictionSource& from);

/// The spec of the job that trained.
/// errors  throws OldJobSpec when this version cannot read it
JobSpec trained_spec(const store::Job& trained);

bool has_problem_at(const std::vector<Problem>& problems, std::string_view prefix);

/// What of the data cannot be predicted by this job: a side of its split on another dataset than
/// its own; a part that it does not have; text by a network for samples, and samples by one for
/// text; more classes than it has. What only the files tell is found when the prediction starts.
std::vector<Problem> check_predicted_data(store::Store& store, const PredictionDataSpec& data,
                                          const store::Dataset& dataset, const store::Job& trained);

}    // namespace slipway::submission
