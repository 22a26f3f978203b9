#pragma once

#include <memory>
#include <optional>

#include "scheduler/store/attempts.h"
#include "scheduler/store/pg/group_commit.h"
#include "scheduler/store/pg/pool.h"

namespace slipway::store {

/// An attempt that may be ended together with others.
struct EndedOne {
    const AttemptKey* key = nullptr;
    const AttemptEnd* end = nullptr;
    std::optional<Rescued> ended{};    ///< none: it was not live with this fence
};

/// Of a Store, whose pool outlives it.
std::unique_ptr<GroupCommit<EndedOne>> make_end_group(Pool& pool);

}    // namespace slipway::store
