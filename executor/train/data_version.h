#pragma once

#include "executor/train/attempt_plan.h"
#include "executor/train/train_data.h"

namespace slipway {

/// Compares the files of the dataset with data.version, where the job has one: reads all of them
/// once. Not what was opened before: somebody may have changed them since the service did.
/// errors  DataError when they are others; not_found, unavailable
void require_version(const AttemptPlan& plan, const TrainData& data);

}    // namespace slipway
