#pragma once

#include <functional>

#include "api/base/json.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/queue.h"
#include "server/routes/services.h"

namespace slipway::routes {

// What the routes of jobs and of predictions share: both are rows of the same table.

/// The job as an answer, with its ETag.
Response job_response(const store::Job& job, std::optional<int> position, int status = 200);

/// Its place in the queue; none unless it is queued.
std::optional<int> position_of(const Context& context, const store::Job& job);

/// GET of one job: `Prefer: wait=N` waits for its state to change.
Response watched_job(const Context& context, const store::Job& job);

/// One page of jobs.
Response job_list(const Context& context, const store::JobFilter& filter, store::JobOrder order,
                  bool descending);

/// Stores the job once for its Idempotency-Key and wakes the scheduler; `location` is where the
/// answer says that it is found, before its id ("/v1/jobs/").
Response submit(const Context& context, const store::NewJob& job, std::string_view location);

/// {"position", "eta_s"} of a job of this class, were it submitted now.
Json queue_place(const Context& context, QueueClass job_class);

/// "lenet-4f9x2c": the ids of one second begin alike, their ends tell jobs apart.
std::string made_name(std::string_view word, std::string_view job_id);

}    // namespace slipway::routes
