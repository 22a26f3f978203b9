#include "scheduler/maintenance/forecast.h"

#include <set>

#include "api/base/log.h"
#include "scheduler/maintenance/run_times.h"
#include "scheduler/maintenance/snapshot.h"
#include "scheduler/store/hosts.h"

namespace slipway {

namespace {

void add_waiting(ForecastInput& input, const std::vector<store::QueuedJob>& jobs,
                 std::set<std::string>& added) {
    for (const store::QueuedJob& job : jobs) {
        if (!added.insert(job.job_id).second) continue;
        input.snapshot.queue.push_back(to_waiting_job(job));
        input.runs[job.job_id] = estimate_run(input.typical, job);
    }
}

}    // namespace

ForecastInput read_forecast_input(store::Store& store, std::chrono::milliseconds host_silence_max,
                                  std::string_view also) {
    ForecastInput input;
    input.typical = store::list_typical_runs(store);
    input.snapshot.now = input.typical.now;
    for (const store::Core& core : store::list_cores(store, host_silence_max))
        input.snapshot.cores.push_back(to_core_slot(core));
    std::set<std::string> added;
    add_waiting(input, store::list_forecast_jobs(store, forecast_jobs_max), added);
    const int of_each_shape = std::max(1, int(input.snapshot.cores.size()));
    add_waiting(input, store::list_ready_jobs(store, of_each_shape), added);
    for (const store::RunningJobRow& job : store::list_running_jobs(store)) {
        input.snapshot.running.push_back(to_running_job(job));
        input.runs[job.job_id] = estimate_rest(input.typical, job);
    }
    for (const store::ProjectStanding& standing : store::list_standings(store, also).projects)
        input.snapshot.projects.push_back(to_share(standing));
    return input;
}

SimulationBounds forecast_bounds(const Clock& clock) {
    SimulationBounds bounds;
    bounds.stop = [&clock, end = clock.tick() + forecast_time_max] { return clock.tick() > end; };
    return bounds;
}

Forecasts::Forecasts(store::Store& store, const Clock& clock,
                     std::chrono::milliseconds host_silence_max, Times times)
    : store_(store),
      clock_(clock),
      host_silence_max_(host_silence_max),
      times_(times),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

Forecasts::~Forecasts() {
    thread_.request_stop();
    changed_.notify_all();
}

bool Forecasts::is_younger(std::chrono::milliseconds age) const {
    return made_ && clock_.tick() - made_at_ < age;
}

std::shared_ptr<const Simulation> Forecasts::latest() {
    std::unique_lock lock(mutex_);
    if (is_younger(times_.keep)) return made_;
    asked_ = true;
    changed_.notify_all();
    if (!is_younger(times_.give_up))
        changed_.wait_for(lock, times_.wait, [this] { return is_younger(times_.keep); });
    return is_younger(times_.give_up) ? made_ : nullptr;
}

void Forecasts::work(const std::stop_token& stop) {
    while (true) {
        {
            std::unique_lock lock(mutex_);
            if (!changed_.wait(lock, stop, [this] { return asked_; })) return;
        }
        std::shared_ptr<const Simulation> made;
        try {
            ForecastInput input = read_forecast_input(store_, host_silence_max_);
            made = std::make_shared<const Simulation>(
                simulate(std::move(input.snapshot), input.runs, forecast_bounds(clock_)));
        } catch (const Error& error) {
            log_warn("no estimates of starts were made", {{"reason", error.what()}});
        }
        const std::scoped_lock lock(mutex_);
        asked_ = false;
        if (made) {
            made_ = std::move(made);
            made_at_ = clock_.tick();
        }
        changed_.notify_all();
    }
}

}    // namespace slipway
