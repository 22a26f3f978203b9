#pragma once

#include "api/protocol/attempt_order.h"
#include "api/spec/job_kind.h"
#include "executor/train/attempt_plan.h"
#include "executor/train/reporter.h"
#include "executor/train/train_outcome.h"

namespace slipway {

/// What the executor knows of a job kind.
struct JobKindRow {
    JobKind kind;
    /// Adds to the plan what the kind asks for beside the spec.
    /// errors  throws invalid_argument naming what is missing or wrong
    void (*read_payload)(const AttemptOrder& order, AttemptPlan& plan);
    TrainOutcome (*run)(const AttemptPlan& plan, Reporter& reporter);
};

const JobKindRow& row_of(JobKind kind) noexcept;

/// Runs the job by the row of its kind.
TrainOutcome run_job(const AttemptPlan& plan, Reporter& reporter);

}    // namespace slipway
