#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "api/base/clock.h"
#include "api/spec/job_state.h"
#include "scheduler/store/store.h"

namespace slipway {

/// What the database said when it was last asked.
struct DatabaseHealth {
    bool answers = false;
    std::string problem = "it has not been asked yet";    ///< when it does not answer
    Tick asked_at = {};
    std::map<JobState, std::int64_t> jobs = {};    ///< how many there are in each state
};

/// Asks the database how it is, from a thread of its own, so that /readyz and /metrics wait for
/// nobody. Safe from every thread.
class HealthMonitor {
public:
    /// Both outlive it. Has asked once when it exists.
    HealthMonitor(store::Store& store, const Clock& clock);
    ~HealthMonitor();
    HealthMonitor(const HealthMonitor&) = delete;
    HealthMonitor& operator=(const HealthMonitor&) = delete;

    /// At most a second old, unless the database keeps the monitor waiting: then it does not
    /// answer.
    DatabaseHealth latest() const;

private:
    void run();
    void refresh(bool count);

    store::Store& store_;
    const Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;    // guarded by mutex_
    DatabaseHealth latest_;    // guarded by mutex_
    std::thread thread_;       // joined by the destructor
};

}    // namespace slipway
