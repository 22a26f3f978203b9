#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/spec/train_spec.h"
#include "scheduler/store/checkpoints.h"

namespace slipway::submission {

// With early stopping the last evaluations are those that were rejected. A fold is judged by the
// best one, as scikit-learn, LightGBM and Keras do it.

/// An evaluation of a training, and which job made it.
struct JudgedEvaluation {
    std::string job_id{};
    std::int64_t step = 0;
    std::int64_t epoch = 0;    ///< from 1
    double value = 0;          ///< of the metric of early stopping
};

/// The best evaluation of a job, and of those that it is the retry of; of equal ones the first.
/// None: the metric was never finite.
std::optional<JudgedEvaluation> best_evaluation(store::Store& store, const std::string& job_id,
                                                const EarlyStoppingSpec& rule);

/// What that evaluation measured of another metric; none: nothing.
std::optional<double> value_of(store::Store& store, const JudgedEvaluation& evaluation,
                               const std::string& metric);

/// The checkpoint that was saved at that evaluation; none: it is not kept.
std::optional<store::Checkpoint> checkpoint_of(store::Store& store,
                                               const JudgedEvaluation& evaluation);

}    // namespace slipway::submission
