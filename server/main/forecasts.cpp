#include "server/main/forecasts.h"

#include <fmt/format.h>

#include <array>
#include <atomic>

#include "scheduler/maintenance/explain_wait.h"
#include "scheduler/maintenance/forecast.h"
#include "scheduler/maintenance/loop.h"
#include "scheduler/maintenance/what_if.h"

namespace slipway {
namespace {

constexpr std::array basis_words{"known", "progress", "typical", "limit", "assumed"};

StartEstimate estimate_of(const SimulatedStart& start) {
    return {.at = start.at,
            .host = start.host,
            .cores = start.cores,
            .from = basis_words.at(std::size_t(start.basis))};
}

std::map<std::string, StartEstimate> estimates_of(const Simulation& simulation,
                                                  const std::vector<std::string>& job_ids) {
    std::map<std::string, StartEstimate> estimates;
    for (const std::string& id : job_ids)
        if (const auto found = simulation.starts.find(id); found != simulation.starts.end())
            estimates.emplace(id, estimate_of(found->second));
    return estimates;
}

std::vector<StartChange> changes_of(const std::vector<ChangedStart>& changed) {
    std::vector<StartChange> changes;
    for (const ChangedStart& one : changed)
        changes.push_back({.job_id = one.job_id,
                           .project = one.project,
                           .before = one.before,
                           .after = one.after});
    return changes;
}

SimulatedQueue answer_of(const WhatIfAnswer& found) {
    SimulatedQueue answer{.now = found.now,
                          .later = changes_of(found.later),
                          .sooner = changes_of(found.sooner),
                          .jobs = found.jobs,
                          .complete = found.complete,
                          .until = found.until};
    if (found.without) answer.without = estimate_of(*found.without);
    if (found.with) answer.with = estimate_of(*found.with);
    if (found.waits) {
        answer.wait_code = found.waits->code;
        answer.wait_message = found.waits->message;
        answer.blocking_job = found.waits->blocking_job;
    }
    return answer;
}

constexpr int simulations_max = 2;

/// One of the simulations that may run at a time: each takes half a second of a worker.
class Turn {
public:
    explicit Turn(std::atomic<int>& running) : running_(running) {
        if (++running_ <= simulations_max) return;
        --running_;
        throw Error{ErrorCode::exhausted,
                    fmt::format("{} simulations of the queue are running; try again in a second",
                                simulations_max)};
    }
    ~Turn() { --running_; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

private:
    std::atomic<int>& running_;
};

}    // namespace

void wire_forecasts(Services& services, store::Store& store, const Clock& clock) {
    const std::chrono::milliseconds silence = MaintenanceOptions{}.host_silence_max;
    const auto forecasts = std::make_shared<Forecasts>(store, clock, silence, Forecasts::Times{});
    services.count_waits = [&store, silence](const std::vector<std::string>& projects) {
        const DecisionCounts counts = count_decisions(store, projects, silence);
        return WaitCounts{.starting = counts.starting, .by_code = counts.waiting};
    };
    services.estimate_starts = [forecasts](const std::vector<std::string>& job_ids) {
        const std::shared_ptr<const Simulation> latest = forecasts->latest();
        return latest ? estimates_of(*latest, job_ids) : std::map<std::string, StartEstimate>{};
    };
    services.simulate_queue =
        [&store, &clock, silence,
         running = std::make_shared<std::atomic<int>>(0)](const QueueChange& change) {
            const Turn turn(*running);
            return answer_of(what_if(store, clock,
                                     {.new_job = change.new_job,
                                      .job_id = change.job_id,
                                      .class_rank = change.class_rank,
                                      .more_hosts = change.more_hosts,
                                      .cores_per_host = change.cores_per_host,
                                      .pool = change.pool},
                                     silence));
        };
}

}    // namespace slipway
