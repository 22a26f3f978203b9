#include "scheduler/search/trial.h"

#include <algorithm>
#include <cmath>

namespace slipway::search {

double loss_of(double value, MetricMode mode) {
    if (!std::isfinite(value)) return worst_loss;
    return mode == MetricMode::min ? value : -value;
}

double last_loss(const Trial& trial) {
    return trial.reports.empty() ? worst_loss : trial.reports.back().loss;
}

double best_loss(const Trial& trial) {
    double best = worst_loss;
    for (const TrialReport& report : trial.reports)
        best = std::min(best, report.loss);
    return best;
}

const TrialReport& judged_report(const Trial& trial, ObjectiveSelection selection) {
    if (selection == ObjectiveSelection::last) return trial.reports.back();
    return *std::ranges::min_element(trial.reports, {}, &TrialReport::loss);
}

double mean_loss(const Trial& trial, std::int64_t time) {
    double sum = 0;
    double count = 0;
    for (const TrialReport& report : trial.reports) {
        if (report.time > time) break;
        sum += report.loss;
        ++count;
    }
    return count == 0 ? worst_loss : sum / count;
}

std::int64_t running_count(const std::vector<Trial>& trials) {
    return std::ranges::count(trials, TrialState::running, &Trial::state);
}

}    // namespace slipway::search
