#pragma once

#include "api/spec/job_spec.h"
#include "executor/nn/parameter.h"
#include "executor/optim/update_plan.h"

namespace slipway {

/// How a job's spec has these parameters updated: its optimizer's row, and by their names what is
/// frozen (model.freeze), does not decay (train.optimizer.decay_exempt) or learns at another rate
/// (groups).
/// errors  TrainError spec_error when a pattern matches no parameter, or nothing is left to train
UpdatePlan make_update_plan(const JobSpec& spec, const ParameterList& parameters);

}    // namespace slipway
