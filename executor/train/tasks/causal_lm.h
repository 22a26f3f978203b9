#pragma once

#include "executor/train/task.h"

namespace slipway {

/// Tokens, the next of which is to be told at each position (executor/text/causal_samples.h).
Task causal_lm(const JobSpec& spec);

}    // namespace slipway
