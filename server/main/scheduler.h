#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "scheduler/agent/agent.h"
#include "scheduler/cross_validation/loop.h"
#include "scheduler/maintenance/loop.h"
#include "server/routes/services.h"

namespace slipway {

/// The agents of this machine's hosts, the maintenance loop and that of cross-validations, each of
/// which wakes the others. What the server calls does nothing before the start and after the end.
class Scheduler {
public:
    using Agents = std::vector<std::unique_ptr<Agent>>;

    Scheduler() = default;
    /// As stop(nullptr).
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    /// errors  throws invalid_argument when the executor cannot be run
    void start(store::Store& store, std::vector<AgentOptions> agents,
               MaintenanceOptions maintenance, CoordinatorOptions coordinator, const Clock& clock);

    /// Ends maintenance, then calls `between` (if any) with the agents alone, then ends the agents.
    /// Executors go on. Repeatable.
    void stop(const std::function<void(const Agents&)>& between = nullptr);

    // Safe from every thread.
    void wake_maintenance();
    void wake_agent();
    std::vector<PrometheusSample> metric_samples();

private:
    void wake_placement();

    Agents agents_;                                             // owner's thread only
    std::unique_ptr<MaintenanceLoop> maintenance_;              // owner's thread only
    std::unique_ptr<CrossValidationLoop> cross_validations_;    // likewise
    std::mutex mutex_;
    std::vector<Agent*> awake_agents_;                          // guarded by mutex_
    MaintenanceLoop* awake_maintenance_ = nullptr;              // guarded by mutex_
    CrossValidationLoop* awake_cross_validations_ = nullptr;    // guarded by mutex_
};

}    // namespace slipway
