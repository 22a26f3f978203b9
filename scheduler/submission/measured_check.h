#pragma once

#include <vector>

#include "api/spec/documents.h"

namespace slipway::submission {

/// A metric that the job is asked to compare checkpoints by, and cannot measure. The metric that is
/// compared by default asks for nothing: a job without validation just has no best checkpoint.
/// Asked of new jobs only, so that stored ones still run.
std::vector<Problem> check_measured(const JobSpec& spec);

/// A job that no longer validates compares no checkpoints: `checkpoint.best` is as by default.
void forget_unmeasured(JobSpec& spec);

/// Whether a job validates: a part or a fold always has samples.
bool has_validation(const SplitSpec& split);

/// "data.split.val_fraction is 0": why there is no validation metric.
std::string no_validation_reason(const SplitSpec& split);

}    // namespace slipway::submission
