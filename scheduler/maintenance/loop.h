#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "api/base/clock.h"
#include "scheduler/store/retention.h"

namespace slipway {

struct MaintenanceOptions {
    std::string host;                       ///< own host: its agent gets more time
    std::chrono::milliseconds tick{500};    ///< at least this often, asked for or not
    /// From a tick to the next that wake() asks for: jobs that are submitted in a burst share one.
    std::chrono::milliseconds wake_pause{10};
    std::chrono::milliseconds lease{10000};    ///< of a new attempt, until the agent renews
    std::chrono::milliseconds rescue_every{1000};
    std::chrono::milliseconds follow_every{1000};    ///< jobs follow the checks of datasets
    std::chrono::milliseconds expire_every{1000};
    std::chrono::milliseconds count_every{10000};
    std::chrono::milliseconds prune_every{60000};
    std::int64_t keys_of_token_max = 100'000;    ///< idempotency keys that are kept
    std::chrono::milliseconds decision_keep = std::chrono::days{7};
    std::int64_t decisions_max = 2'000'000;
    std::chrono::milliseconds audit_keep = std::chrono::days{400};
    store::RetentionPolicy retention{};
    std::chrono::milliseconds group_keep = std::chrono::days{1};    ///< of an unused group
    std::chrono::milliseconds host_silence_max{10000};    ///< then its cores take no new job
    /// Called after jobs were placed, from the loop's thread: wakes this machine's agent.
    std::function<void()> on_placed = {};
};

/// What the loop did since it was made; for /metrics.
struct MaintenanceCounts {
    bool leads = false;
    std::int64_t ticks = 0;
    std::int64_t failed_ticks = 0;
    std::int64_t placed = 0;
    std::int64_t lost_races = 0;
    std::int64_t preempted = 0;
    std::int64_t rescued = 0;
    std::int64_t drained_cores = 0;    ///< on which job after job crashed
    std::int64_t expired = 0;
    std::int64_t pruned = 0;
    double last_tick_s = 0;
};

/// The service's periodic work: places queued jobs, rescues attempts whose host is gone, lets jobs
/// follow the check of their dataset, expires jobs, prunes. Of all processes on one database only
/// the leader works, and what it writes is checked against its term. Each tick looks at the whole
/// state, so a missed wake-up costs at most a tick. A tick that fails is logged and repeated.
class MaintenanceLoop {
public:
    /// Starts the thread. `store` and `clock` outlive the loop.
    MaintenanceLoop(store::Store& store, MaintenanceOptions options, const Clock& clock);
    /// Ends the current tick and joins.
    ~MaintenanceLoop();
    MaintenanceLoop(const MaintenanceLoop&) = delete;
    MaintenanceLoop& operator=(const MaintenanceLoop&) = delete;

    /// Something was queued or became free: the next tick comes at once, or `wake_pause` after the
    /// last. Safe from every thread.
    void wake();
    MaintenanceCounts counts() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
