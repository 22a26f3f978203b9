#pragma once

#include <memory>
#include <vector>

#include "scheduler/search/decision.h"

namespace slipway::search {

/// How trials are compared and which of them go on: one object for one search, told of every event
/// in order. What it keeps follows from the events alone. Trials are as they are after the event.
class TrialPolicy {
public:
    virtual ~TrialPolicy() = default;

    /// Somebody is free: resume, start (until and bracket; the search adds trial and point), wait
    /// or finish. `startable`: how many trials may still be started. `others` takes what is decided
    /// about other trials because no more can be started.
    virtual Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                          std::vector<Decision>& others) = 0;

    /// A trial was started with the number and the bracket that it now has.
    virtual void on_start(const Trial&) {}

    /// `trial`, which is running, has a new last report.
    virtual std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                            std::int64_t number) = 0;

    /// The trial was running or paused and is now completed or failed, by no decision of ours.
    virtual std::vector<Decision> on_end(const std::vector<Trial>&, std::int64_t) { return {}; }
};

/// Start while trials may be started, then wait for those that run, then finish.
Decision start_or_wait(const std::vector<Trial>& trials, std::int64_t startable,
                       std::string_view rule);

/// All trials run to their ends.
std::unique_ptr<TrialPolicy> run_all_policy(std::string_view rule);

}    // namespace slipway::search
