#pragma once

#include "api/spec/documents.h"
#include "api/spec/job_actions.h"
#include "scheduler/store/jobs.h"
#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// The job once more: its spec, and of a training job its newest checkpoint, when it has one, to go
/// on from. `origin` has ended. Problems are those of artifacts that are gone.
/// errors  throws OldJobSpec
Decoded<CheckedJob> check_retry(const store::Job& origin, const Submitter& submitter,
                                store::Store& store);

/// A job like `origin`, which trains, with the changes of `request`. Problems are at "/changes", at
/// "/checkpoint" and at "/start".
/// errors  throws OldJobSpec
Decoded<CheckedJob> check_fork(const store::Job& origin, const JobForkBody& request,
                               const Submitter& submitter, store::Store& store);

/// A stored spec with the `changes` of a request merged: names are judged where they are changed.
Decoded<JobSpec> decode_changed(const Json& spec, const Json& changes);

}    // namespace slipway::submission
