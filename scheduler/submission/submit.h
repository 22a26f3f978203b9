#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "scheduler/store/jobs.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/queued_jobs.h"

namespace slipway::submission {

/// How many jobs a project and a token may have in the queue; 0: no limit.
struct QueueLimit {
    QueuedJobs& queued;
    std::int64_t jobs_max = 0;
};

/// A job, and who submits it.
struct Submission {
    CheckedJob job;
    std::string token_id;
    std::optional<store::IdempotentRequest> request = {};    ///< none: nothing is remembered
};

/// Names the job when it has no name and stores it, as store::submit_job says. `render` makes the
/// answer that a repeated request gets again.
/// errors  as store::submit_job; throws exhausted (429) when a queue is full
store::Submitted submit(store::Store& store, const QueueLimit& limit, Submission submission,
                        const std::function<store::StoredResponse(const store::Job&)>& render);

}    // namespace slipway::submission
