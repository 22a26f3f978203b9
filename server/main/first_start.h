#pragma once

#include <string>

#include "api/base/clock.h"
#include "scheduler/store/store.h"
#include "server/main/home.h"

namespace slipway {

/// Makes sure that home/admin-token holds a token that works: makes one at the first start, and
/// again when the file was lost or its token is no longer known. Returns what it did, for the
/// log: "kept" or "made".
std::string ensure_admin_token(const Home& home, store::Store& store, const Clock& clock);

/// Pings until the database answers. errors  throws unavailable with its last words after `limit`
void wait_for_database(store::Store& store, const Clock& clock, std::chrono::seconds limit);

}    // namespace slipway
