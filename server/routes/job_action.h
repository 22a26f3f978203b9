#pragma once

#include <optional>

#include "api/spec/job_actions.h"
#include "scheduler/store/jobs.h"
#include "server/routes/services.h"

namespace slipway::routes {

// One action on one job, for its own endpoint and for bulk_jobs alike.

/// Does it and wakes whoever has to do something about it. The job after it; nothing when it is
/// gone.
/// errors  throws IllegalTransition, conflict; exhausted when the queue has no place for the job
std::optional<store::Job> act_on(const Context& context, const store::Job& job, JobAction action);

/// What act_on would do to the job in the state that it has: its next state, the same when nothing
/// happens; nothing when the job would be gone. Pure. errors  as act_on, but for exhausted
std::optional<JobState> preview_action(const store::Job& job, JobAction action);

}    // namespace slipway::routes
