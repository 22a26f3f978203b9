// Curves are replayed by the search itself: recorded points become the points to start with, and a
// clock decides who reports next. What an algorithm would have chosen by itself is not known, so
// its sampler has no say; which trials it stops, and when, is exact.

#include "scheduler/sweeps/simulation.h"

#include <fmt/format.h>

#include <queue>
#include <set>
#include <tuple>

#include "scheduler/sweeps/plan.h"

namespace slipway::sweeps {

namespace {

using search::Action;
using search::TrialState;

/// The next report of a trial: when, of whom, and which.
using Due = std::tuple<std::int64_t, std::int64_t, std::size_t>;

class Replay {
public:
    Replay(const RecordedSweep& recorded, const AlgorithmSpec& algorithm,
           std::int64_t max_concurrent)
        : recorded_(recorded.trials),
          search_(replaying(recorded, algorithm)),
          max_concurrent_(max_concurrent),
          reached_(recorded_.size(), 0) {}

    SweepSimulation run(const KeepGoing& may_go_on) {
        do {
            may_go_on();
            fill();
        } while (step());
        SweepSimulation result{.trials = std::int64_t(search_.trials().size()),
                               .time_used = used_,
                               .cut_short = std::int64_t(cut_short_.size())};
        if (const auto best = search_.best_trial())
            result.best = store::BestTrial{
                .trial = int(*best),
                .value = search::judged_report(search_.trials()[std::size_t(*best)],
                                               search_.plan().selection)
                             .value};
        return result;
    }

private:
    static search::Search replaying(const RecordedSweep& recorded, const AlgorithmSpec& algorithm) {
        SweepSpec spec = recorded.spec;
        spec.algorithm = algorithm;
        spec.warm_start.emplace();
        for (const search::Trial& trial : recorded.trials)
            spec.warm_start->points.push_back(Json(trial.point));
        return make_search(spec, std::int64_t(spec.warm_start->points.size()));
    }

    void fill() {
        while (std::int64_t(due_.size()) < max_concurrent_) {
            const search::Decision decision = search_.on(search::AskEvent{}).back();
            if (decision.action != Action::start && decision.action != Action::resume) return;
            train_on(decision.trial);
        }
    }

    /// Due in as much time as it takes to the next recorded value.
    void train_on(std::int64_t number) {
        const auto& reports = recorded_[std::size_t(number)].reports;
        std::size_t& next = reached_[std::size_t(number)];
        if (next == reports.size()) {
            if (recorded_[std::size_t(number)].state != TrialState::completed)
                cut_short_.insert(number);
            const bool failed = recorded_[std::size_t(number)].state == TrialState::failed;
            search_.on(search::EndEvent{.trial = number, .failed = failed});
            return;
        }
        const std::int64_t from = next == 0 ? 0 : reports[next - 1].time;
        used_ += reports[next].time - from;
        due_.push({clock_ + reports[next].time - from, number, next});
        ++next;
    }

    bool step() {
        if (due_.empty()) return false;
        const auto [at, number, index] = due_.top();
        due_.pop();
        clock_ = at;
        const search::TrialReport& report = recorded_[std::size_t(number)].reports[index];
        search_.on(
            search::ReportEvent{.trial = number, .time = report.time, .value = report.value});
        const search::Trial& trial = search_.trials()[std::size_t(number)];
        if (trial.state == TrialState::running) train_on(number);
        return true;
    }

    const std::vector<search::Trial>& recorded_;
    search::Search search_;
    std::int64_t max_concurrent_;
    std::vector<std::size_t> reached_;    // of each trial: reports that were used
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::set<std::int64_t> cut_short_;
    std::int64_t clock_ = 0;
    std::int64_t used_ = 0;
};

}    // namespace

RecordedSweep recorded_sweep(const SweepRun& run) {
    return {.spec = run.spec, .trials = run.search.trials(), .best = best_of(run)};
}

SweepSimulation simulate(const RecordedSweep& recorded, const AlgorithmSpec& algorithm,
                         std::int64_t max_concurrent, const KeepGoing& may_go_on) {
    if (algorithm.name == SearchMethod::pbt)
        throw Error{ErrorCode::invalid_argument,
                    "pbt changes the values of its trials while they train, so recorded curves say "
                    "nothing about it"};
    SweepSimulation result = Replay(recorded, algorithm, max_concurrent).run(may_go_on);
    for (const search::Trial& trial : recorded.trials)
        if (!trial.reports.empty()) result.time_recorded += trial.reports.back().time;
    const auto& best = recorded.best;
    if (best && result.best)
        result.regret = search::loss_of(result.best->value, recorded.spec.objective.mode) -
                        search::loss_of(best->value, recorded.spec.objective.mode);
    return result;
}

}    // namespace slipway::sweeps
