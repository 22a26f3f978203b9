#pragma once

#include <string>

#include "api/base/clock.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/train_data.h"

namespace slipway {

/// Compares the files of the dataset, which were opened at `opened_since` or later, with the hash
/// that they had when the dataset was checked, and with data.version. They are read once more,
/// unless this host knows their hash. Returns it; empty when no check needs it: nothing is known of
/// the dataset, the job names no version, and no other member must have the same files.
/// errors  TrainError data_changed when they are not those that were checked; DataError when they
///         are not those of data.version; not_found, unavailable
std::string require_content(const AttemptPlan& plan, const TrainData& data, Instant opened_since);

}    // namespace slipway
