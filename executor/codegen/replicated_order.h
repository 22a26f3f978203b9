#pragma once

#include "executor/codegen/analysis.h"
#include "executor/codegen/fusion.h"

namespace slipway {

/// Orders what is computed (Fusion::order) by stages, and within a replicated stage so that a value
/// is made right before the first result that needs it: the gradient of a weight before its update.
void make_values_late(Fusion& fusion, const Analysis& analysis);

}    // namespace slipway
