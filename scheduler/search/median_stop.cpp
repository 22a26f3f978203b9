#include "scheduler/search/median_stop.h"

#include <fmt/format.h>

#include <algorithm>

namespace slipway::search {

namespace {

constexpr std::string_view median_rule = "median_stop";

double median_of(std::vector<double> numbers) {
    std::ranges::sort(numbers);
    const std::size_t half = numbers.size() / 2;
    if (numbers.size() % 2 == 1) return numbers[half];
    return (numbers[half - 1] + numbers[half]) / 2;
}

class MedianStop final : public TrialPolicy {
public:
    MedianStop(const AlgorithmSpec& spec, MetricMode mode) : spec_(spec), mode_(mode) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>&) override {
        return start_or_wait(trials, startable, median_rule);
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        const Trial& trial = trials[std::size_t(number)];
        const TrialReport& report = trial.reports.back();
        if (report.time < spec_.grace_time) return {};
        std::vector<double> means;
        for (const Trial& other : trials) {
            if (other.number == number || other.state == TrialState::failed) continue;
            if (other.reports.empty() || other.reports.back().time < report.time) continue;
            means.push_back(mean_loss(other, report.time));
        }
        if (std::int64_t(means.size()) < spec_.min_samples) return {};
        const double median = median_of(means);
        const double best = best_loss(trial);
        if (best <= median) return {};
        const double sign = mode_ == MetricMode::min ? 1 : -1;
        return {{.action = Action::stop,
                 .rule = median_rule,
                 .trial = number,
                 .time = report.time,
                 .value = judged_report(trial, ObjectiveSelection::best).value,
                 .of = std::int64_t(means.size()),
                 .cutoff = sign * median,
                 .reason = fmt::format("{} {}: its best value {:.6g} is worse than the median of "
                                       "{} others, {:.6g}",
                                       to_string(spec_.time_attr), report.time,
                                       judged_report(trial, ObjectiveSelection::best).value,
                                       means.size(), sign * median)}};
    }

private:
    AlgorithmSpec spec_;
    MetricMode mode_;
};

}    // namespace

std::unique_ptr<TrialPolicy> median_stop_policy(const AlgorithmSpec& spec, MetricMode mode) {
    return std::make_unique<MedianStop>(spec, mode);
}

}    // namespace slipway::search
