#include "scheduler/search/policy.h"

#include <fmt/format.h>

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
    decision.reason =
        running > 0 ? fmt::format("all trials are started; {} are running", running)
                    : fmt::format("all {} trials have ended, or were not promoted", trials.size());
    return decision;
}

std::unique_ptr<TrialPolicy> run_all_policy(std::string_view rule) {
    return std::make_unique<RunAll>(rule);
}

}    // namespace slipway::search
