#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "api/base/clock.h"
#include "scheduler/submission/submit.h"

namespace slipway::sweeps {

struct SweepLoopOptions {
    /// How often sweeps are looked at that nothing was heard of.
    std::chrono::milliseconds tick{500};
    /// From a look to the next, however much is heard.
    std::chrono::milliseconds pause{20};
    /// How often the values of a sweep's running jobs are read; those of a job that has ended at
    /// once.
    std::chrono::milliseconds values_every{500};
    /// How long those sweeps have in each look whose last step was cut short; at least one of them
    /// takes a step.
    std::chrono::milliseconds slow_sweeps_for{200};
    /// Called after jobs were made.
    std::function<void()> on_queued = [] {};
};

/// For /metrics.
struct SweepLoopCounts {
    bool leads = false;
    std::int64_t active = 0;    ///< sweeps that have not ended
    std::int64_t steps = 0;
    std::int64_t failed_steps = 0;
    std::int64_t slices_used = 0;            ///< steps that choosing points has cut short
    std::int64_t behind = 0;                 ///< sweeps that take turns, since their steps are
    std::int64_t jobs = 0;                   ///< that were made for trials
    std::int64_t deleted_checkpoints = 0;    ///< of trials that were passed by
    std::int64_t trimmed_reports = 0;        ///< likewise: without programs and timeline
};

/// Takes the sweeps of a database forward: a thread that looks at their jobs and does what
/// advance() says. Of all processes only the leader works; a step is written with its term or not
/// at all. What it keeps in memory is what the log adds up to: whoever leads next reads it again.
class SweepLoop {
public:
    /// Starts the thread. Everything outlives the loop. `limit` bounds the queue, as for users.
    SweepLoop(store::Store& store, submission::QueueLimit limit, SweepLoopOptions options,
              const Clock& clock);
    ~SweepLoop();
    SweepLoop(const SweepLoop&) = delete;
    SweepLoop& operator=(const SweepLoop&) = delete;

    /// Look now. Safe from every thread.
    void wake();
    SweepLoopCounts counts() const;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}    // namespace slipway::sweeps
