#pragma once

#include <optional>

#include "scheduler/store/jobs.h"
#include "scheduler/store/queue.h"
#include "server/routes/services.h"

namespace slipway::routes {

// What the routes of every job kind share: all jobs are rows of the same table.

/// The job as an answer, with its ETag.
Response job_response(const store::Job& job, std::optional<int> position, int status = 200,
                      std::optional<double> eta_s = {});

/// Its place in the queue; none unless it is queued.
std::optional<int> position_of(const Context& context, const store::Job& job);

/// GET of one job: `Prefer: wait=N` waits for its state to change.
Response watched_job(const Context& context, const store::Job& job);

/// One page of jobs as an answer.
Response job_list(const store::Page<store::Job>& page);

}    // namespace slipway::routes
