#pragma once

#include <memory>
#include <optional>

#include "scheduler/store/access.h"
#include "scheduler/store/jobs.h"
#include "scheduler/store/pg/group_commit.h"
#include "scheduler/store/pg/pool.h"

namespace slipway::store {

/// A job that may be stored together with those of others.
struct SubmittedOne {
    const NewJob* job = nullptr;
    const AuditEntry* audit = nullptr;    ///< may be none
    std::optional<Job> stored{};          ///< none: its dataset cannot be used
};

/// Of a Store, whose pool outlives it.
std::unique_ptr<GroupCommit<SubmittedOne>> make_submission_group(Pool& pool);

}    // namespace slipway::store
