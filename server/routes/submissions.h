#pragma once

#include <functional>
#include <memory>

#include "api/base/json.h"
#include "scheduler/submission/checked_job.h"
#include "server/http/gathering.h"
#include "server/routes/services.h"

namespace slipway::routes {

// What the POST of every job kind does.

/// The body as a job of this kind that can be stored.
/// errors  400 `invalid_json`; 403 when the project is not the caller's; 422 `invalid_spec` with
///         every problem of the body and of the artifacts that it names
submission::CheckedJob read_job(const Context& context, JobKind kind);

/// Throws 422 `invalid_spec` with the problems of a job that cannot be stored, when it has some.
/// `what` names it in messages ("the job spec").
submission::CheckedJob require_job(Decoded<submission::CheckedJob> checked, std::string_view what);

/// The answer of a dry run: what would be stored, and its place in the queue.
Json preview(const Context& context, const submission::CheckedJob& job);

/// Stores the job once for its Idempotency-Key and wakes the scheduler: 201, or the first answer
/// again. Of a gathered request the job is left to be stored with others, unless something is to be
/// stored with it: `also`, as of store::SubmissionParts.
/// errors  409, 429
Response submit(const Context& context, submission::CheckedJob job,
                std::function<void(store::Transaction&)> also = {});

/// Of the requests that submit a job each.
std::unique_ptr<Gathering> gather_submissions(Services& services);

/// Whether a request that submits a job may be handled together with others: it has no key, and is
/// no dry run.
bool may_gather_submission(const Request& request);

}    // namespace slipway::routes
