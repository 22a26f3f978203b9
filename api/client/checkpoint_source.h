#pragma once

#include <string>

#include "api/base/json.h"

namespace slipway::client {

/// `from` of a prediction or evaluation: what an argument names.
///   from        a job, a checkpoint (ckp_…), several of these with commas between them, or a
///               cross-validation (cv_…)
///   checkpoint  of the job or of each fold
Json checkpoint_source(const std::string& from, const std::string& checkpoint);

}    // namespace slipway::client
