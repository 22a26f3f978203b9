#pragma once

#include <vector>

#include "api/spec/evaluation_spec.h"
#include "api/spec/field.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"

namespace slipway::submission {

/// What of the data cannot be evaluated by this job: what check_predicted_data says, a training
/// without validation samples, and labels that the network does not know. What only the files tell
/// is found when the evaluation starts.
std::vector<Problem> check_evaluated_data(store::Store& store, const PredictionDataSpec& data,
                                          const store::Dataset& dataset, const store::Job& trained);

/// The global batch is that of the training, which the cores divide.
std::vector<Problem> check_evaluating_cores(const JobSpec& trained,
                                            const AcceleratorSpec& accelerator);

}    // namespace slipway::submission
