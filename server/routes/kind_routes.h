#pragma once

#include "scheduler/store/jobs.h"
#include "server/routes/services.h"

namespace slipway::routes {

// The endpoints of a job kind that has a path of its own, such as /v1/predictions.

/// POST: as `submit`; with dry_run, as `preview`.
Response create_of_kind(const Context& context, JobKind kind);

/// GET of the list: filters state, project, dataset; pages.
Response list_of_kind(const Context& context, JobKind kind);

/// The job of the path.
/// errors  404 when it is of another kind, under the name that the kind has there
store::Job job_of_kind(const Context& context, JobKind kind);

}    // namespace slipway::routes
