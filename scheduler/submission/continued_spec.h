#pragma once

#include <vector>

#include "api/spec/field.h"
#include "api/spec/job_spec.h"

namespace slipway::submission {

/// What of `now` does not fit the state that training by `before` has left in a checkpoint: another
/// network, optimizer, data order or batch. How long it trains, its rates and what it reports may
/// change. The dataset is not compared. Pointers are those of the spec.
std::vector<Problem> check_continued(const JobSpec& before, const JobSpec& now);

}    // namespace slipway::submission
