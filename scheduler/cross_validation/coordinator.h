#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/cross_validations.h"
#include "scheduler/submission/submit.h"

namespace slipway {

/// What cross-validations are brought forward with. What it refers to outlives it.
struct CoordinatorParts {
    store::Store& store;
    submission::QueuedJobs& queued;
    ArtifactStore artifacts;
    std::string host;                    ///< whose disk the artifacts are on
    std::int64_t queued_jobs_max = 0;    ///< of a project, and of a token; 0: no limit
};

/// What a pass found of each cross-validation for which nothing was left to do, by id: its progress
/// (UnfinishedCrossValidation). As long as it is the same the next pass need not look closer. To
/// forget it is always right, and is done now and then.
using SettledMemory = std::map<std::string, std::string, std::less<>>;

/// Brings every cross-validation that has not ended as far as it can be now: reads what became of
/// its jobs, submits, cancels, collects predictions, ends it. Each step is one transaction that
/// checks the leader's term and the state that it was decided on: repeated after a crash it finds
/// nothing left to do. A cross-validation that fails to be brought forward keeps no other one
/// waiting. Returns how many steps were done.
/// errors  throws LeaderReplaced, unavailable
std::int64_t advance_cross_validations(const CoordinatorParts& parts,
                                       const store::LeaderTerm& term = {},
                                       SettledMemory* memory = nullptr);

}    // namespace slipway
