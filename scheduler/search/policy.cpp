#include "scheduler/search/policy.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::search {

namespace {

class RunAll final : public TrialPolicy {
public:
    explicit RunAll(std::string_view rule) : rule_(rule) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>&) override {
        return start_or_wait(trials, startable, rule_);
    }

    std::vector<Decision> on_report(const std::vector<Trial>&, std::int64_t) override { return {}; }

private:
    std::string_view rule_;
};

std::string end_reason(const std::vector<Trial>& trials) {
    const auto paused = std::ranges::count(trials, TrialState::paused, &Trial::state);
    const auto ended = std::int64_t(trials.size()) - paused;
    if (paused == 0) return fmt::format("every trial has ended ({})", ended);
    return fmt::format("every trial has ended ({}) or is paused and not promoted ({})", ended,
                       paused);
}

}    // namespace

Decision start_or_wait(const std::vector<Trial>& trials, std::int64_t startable,
                       std::string_view rule) {
    Decision decision{.rule = rule, .reason = ""};
    if (startable > 0) {
        decision.action = Action::start;
        return decision;
    }
    const std::int64_t running = running_count(trials);
    decision.action = running > 0 ? Action::wait : Action::finish;
    decision.reason = running > 0 ? fmt::format("all trials are started; {} running", running)
                                  : end_reason(trials);
    return decision;
}

std::unique_ptr<TrialPolicy> run_all_policy(std::string_view rule) {
    return std::make_unique<RunAll>(rule);
}

}    // namespace slipway::search
