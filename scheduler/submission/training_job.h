#pragma once

#include "scheduler/submission/checked_job.h"
#include "scheduler/submission/submitter.h"

namespace slipway::submission {

/// A job that trains: finds its dataset, its stored split, and the network and the weights that it
/// begins with. Problems of the decoding are kept, and those of the artifacts follow: all are told
/// at once.
Decoded<CheckedJob> check_training(Decoded<JobSpec> request, const Submitter& submitter,
                                   store::Store& store);

/// As check_training, of a job that resumes from a checkpoint, which has its network.
Decoded<CheckedJob> check_resumed_training(Decoded<JobSpec> request, const Submitter& submitter,
                                           store::Store& store);

}    // namespace slipway::submission
