#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "scheduler/artifacts/artifact_store.h"
#include "scheduler/store/store.h"

namespace slipway {

/// Writes some bytes into the store until they are on its disk, and removes them.
/// errors  throws unavailable: the store is full, or cannot be written
void check_store_can_be_written(const ArtifactStore& artifacts);

/// That the store has the id which the database knows; the first host makes it.
/// errors  as check_store_is_shared
void check_store_id(store::Store& store, const ArtifactStore& artifacts);

/// That the store is the one which the hosts of the service share. It has an id, which the database
/// knows, too; the first host makes it. A copy has the same id, so the marks of the hosts that live
/// and work elsewhere must be there, too, at the latest after `patience`: longer than a host counts
/// as living that wrote another mark and ended before it registered.
///   home_id  of this machine, whose own marks are not looked for
/// errors  throws unavailable, saying what is not as expected and what to do
void check_store_is_shared(store::Store& store, const ArtifactStore& artifacts,
                           std::string_view home_id, const Clock& clock,
                           std::chrono::milliseconds patience = std::chrono::seconds{12});

/// Writes what check_store_is_shared() of other hosts looks for, once it is kept with
/// store::keep_store_mark(), and returns it. Empty when it cannot be written, which is logged.
std::string write_store_mark(const ArtifactStore& artifacts, std::string_view host);

}    // namespace slipway
