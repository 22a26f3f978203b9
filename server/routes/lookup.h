#pragma once

#include <string_view>

#include "scheduler/store/checkpoints.h"
#include "scheduler/store/cross_validations.h"
#include "scheduler/store/datasets.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/splits.h"
#include "scheduler/submission/submitter.h"
#include "server/routes/services.h"

namespace slipway::routes {

/// Whether this project's objects exist for the caller, who is to do with one what the endpoint
/// does.
/// errors  throws 403 `permission_denied` when they do, but the caller's role in the project does
///         not allow it
bool reaches(const Context& context, std::string_view project);

/// The object that the path's {id} names. An id of another form never reaches the database; what
/// belongs to a project that the caller does not see does not exist for them.
/// errors  throws 404 `not_found`, 403 as `reaches`
store::Job the_job(const Context& context);
store::Checkpoint the_checkpoint(const Context& context);
store::CrossValidation the_cross_validation(const Context& context);
store::CrossValidation the_cross_validation(const Context& context, const std::string& id);
/// By id, or by name within `?project=` (`default`).
store::Dataset the_dataset(const Context& context);
/// The split {sid} of the dataset {id}.
store::StoredSplit the_split(const Context& context);
store::Upload the_upload(const Request& request, Services& services, const Identity& who);
/// The upload of this id: of the caller's token, or of any for an admin of all projects. Uploads
/// belong to no project, so an admin who is bound to some sees those of their own token.
std::optional<store::Upload> find_own_upload(store::Store& store, const Identity& who,
                                             const std::string& id);

/// The caller as the checks of a submission know them.
submission::Submitter submitter_of(const Identity& who);

/// errors  throws 409 `conflict` when the dataset's check has failed
void require_not_failed(const store::Dataset& dataset);

/// errors  as require_not_failed; throws 409 `conflict` while its check has not ended
void require_ready(const store::Dataset& dataset);

/// A job of a project that the caller does not see is not named.
void hide_foreign_job(const Context& context, WaitExplanation& waits);

/// Of those of these jobs whose start can be estimated.
std::map<std::string, StartEstimate> start_estimates(const Context& context,
                                                     const std::vector<std::string>& job_ids);

/// The projects a list is narrowed to: `?project=`, or those of the caller (empty: all).
/// errors  throws 404 when they do not see the one they ask for, 403 as `reaches`
std::vector<std::string> projects_asked(const Context& context);

}    // namespace slipway::routes
