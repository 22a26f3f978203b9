#pragma once

#include "executor/train/task.h"

namespace slipway {

/// One class of several for each sample: cross-entropy of the logits [n, classes] and labels i32
/// [n]. Metrics: loss, and accuracy where the spec asks for it.
Task classification(const JobSpec& spec);

}    // namespace slipway
