#pragma once

#include <span>

#include "scheduler/store/checkpoints.h"

namespace slipway::store {

/// One promise of the store, and the statement that finds what breaks it.
struct Invariant {
    std::string_view name;       ///< "legal_history"
    std::string_view promise;    ///< one sentence
};

std::span<const Invariant> invariants();

struct Violation {
    std::string object;
    std::string detail;
};

/// What breaks it now, at most `limit`. Reads only; each call sees one moment, so that it may run
/// beside a service that works. Reads whole tables: seconds with a million jobs.
/// errors  throws unavailable
std::vector<Violation> find_violations(Store& store, const Invariant& invariant, int limit);

/// The newest kept checkpoint of each job with an id after `after_job_id`, where `host` saved it:
/// there its folder must hold what `files` says. Only id, job_id, name and files are set.
std::vector<Checkpoint> list_newest_checkpoints(Store& store, std::string_view host,
                                                std::string_view after_job_id, int limit);

}    // namespace slipway::store
