#pragma once

#include <chrono>
#include <memory>

#include "api/base/clock.h"
#include "scheduler/cross_validation/coordinator.h"

namespace slipway {

struct CoordinatorOptions {
    std::string host = {};
    std::filesystem::path home = {};    ///< of the artifacts
    std::int64_t queued_jobs_max = 0;
    std::chrono::milliseconds tick{500};    ///< at least this often, asked for or not
    /// Called after jobs were submitted or asked to end: wakes who places jobs.
    std::function<void()> on_changed = {};
};

/// Brings cross-validations forward on a thread of its own, as the leader of all processes on one
/// database: collecting predictions of millions of samples takes seconds, which placement must not
/// wait for.
class CrossValidationLoop {
public:
    /// Starts the thread. `store` and `clock` outlive the loop.
    CrossValidationLoop(store::Store& store, CoordinatorOptions options, const Clock& clock);
    /// Ends the current pass and joins.
    ~CrossValidationLoop();
    CrossValidationLoop(const CrossValidationLoop&) = delete;
    CrossValidationLoop& operator=(const CrossValidationLoop&) = delete;

    /// A job has ended, or a cross-validation was created. Safe from every thread.
    void wake();

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway
