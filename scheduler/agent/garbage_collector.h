#pragma once

#include <memory>

#include "api/base/clock.h"
#include "scheduler/agent/agent.h"

namespace slipway {

/// Removes what nothing refers to: paths that the store lists (garbage.h), old run
/// folders, and what deleted jobs and datasets have left (scheduler/store/deleted_jobs.h,
/// deleted_datasets.h). It has a thread of its own, so that neither a slow disk nor a large job
/// delays leases. It works in small steps until
/// nothing is left, takes turns between the kinds, and leaves the database as much time as it
/// takes. What fails is logged once and tried again.
class GarbageCollector {
public:
    /// Starts the thread. `store`, `options` and `clock` outlive the collector.
    GarbageCollector(store::Store& store, const AgentOptions& options, const Clock& clock);
    /// Ends the present step and joins.
    ~GarbageCollector();
    GarbageCollector(const GarbageCollector&) = delete;
    GarbageCollector& operator=(const GarbageCollector&) = delete;

    /// There is something in the list of paths. Safe from every thread.
    void wake();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
