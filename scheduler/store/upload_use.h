#pragma once

#include <string_view>

#include "scheduler/store/pg/connection.h"

namespace slipway::store {

/// A step of a transaction that takes an upload from where it is, and has locked its row.
/// errors  Error{conflict} when a job that has not ended begins with its weights
void require_unused_upload(Transaction& transaction, std::string_view id);

}    // namespace slipway::store
