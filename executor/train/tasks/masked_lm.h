#pragma once

#include "executor/train/task.h"

namespace slipway {

/// Tokens, some of which are hidden and to be told (executor/text/masked_samples.h).
Task masked_lm(const JobSpec& spec);

}    // namespace slipway
