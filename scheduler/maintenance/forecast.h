#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "api/base/clock.h"
#include "scheduler/placement/simulation.h"
#include "scheduler/store/queue.h"

namespace slipway {

/// So many ready jobs of the queue are simulated, in fair order, and of each shape those that a
/// pass looks at.
inline constexpr int forecast_jobs_max = 1000;
/// A simulation takes no longer than this.
inline constexpr std::chrono::milliseconds forecast_time_max{250};

/// The start of the queue, and how long its jobs and the running ones will last.
struct ForecastInput {
    Snapshot snapshot;
    std::map<std::string, RunEstimate> runs;
    store::TypicalRuns typical;
};

/// `also`: a project that is there even without ready jobs.
/// errors  throws unavailable
ForecastInput read_forecast_input(store::Store& store, std::chrono::milliseconds host_silence_max,
                                  std::string_view also = {});

/// Bounds that end a simulation after forecast_time_max.
SimulationBounds forecast_bounds(const Clock& clock);

/// A simulation of the queue as it is, for estimates. It is made by a thread of its own, so that no
/// request waits for it, and only while somebody asks. Safe from every thread.
class Forecasts {
public:
    struct Times {
        std::chrono::milliseconds keep = std::chrono::seconds{5};        ///< then it is made again
        std::chrono::milliseconds give_up = std::chrono::seconds{60};    ///< then it is of no use
        std::chrono::milliseconds wait = std::chrono::milliseconds{10};    ///< for one that is
    };

    /// `store` and `clock` outlive it.
    Forecasts(store::Store& store, const Clock& clock, std::chrono::milliseconds host_silence_max,
              Times times);
    ~Forecasts();
    Forecasts(const Forecasts&) = delete;
    Forecasts& operator=(const Forecasts&) = delete;

    /// The last one; none when it is too old and the next one is not there within `wait`.
    std::shared_ptr<const Simulation> latest();

private:
    void work(const std::stop_token& stop);
    bool is_younger(std::chrono::milliseconds age) const;    // under mutex_

    store::Store& store_;
    const Clock& clock_;
    const std::chrono::milliseconds host_silence_max_;
    const Times times_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool asked_ = false;                        // guarded by mutex_
    std::shared_ptr<const Simulation> made_;    // guarded by mutex_
    Tick made_at_{};                            // guarded by mutex_
    std::jthread thread_;
};

}    // namespace slipway
