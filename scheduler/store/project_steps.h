#pragma once

#include <string_view>

#include "scheduler/store/pg/connection.h"

namespace slipway::store {

/// A step of a transaction that uses a project: one that is new gets its number (executor_number),
/// and `created_by` has brought it into being.
/// errors  exhausted when that token has brought `projects_max` into being (0: no limit), or no
///         number is left
void claim_project(Transaction& transaction, std::string_view project, std::string_view created_by,
                   std::int64_t projects_max);

}    // namespace slipway::store
