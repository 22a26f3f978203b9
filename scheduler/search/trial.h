#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "api/spec/search_algorithm.h"
#include "api/spec/train_spec.h"
#include "scheduler/search/constraint.h"

namespace slipway::search {

enum class TrialState {
    running,
    paused,       ///< has reached its time; a checkpoint is kept
    completed,    ///< has done all that it was asked for
    stopped,      ///< by the algorithm
    failed        ///< or cancelled by the user
};

/// Which of a trial's values it is judged by.
enum class ObjectiveSelection { best, last };

/// The loss of what is no finite number: worse than everything.
constexpr double worst_loss = std::numeric_limits<double>::infinity();

/// A value of the objective at a time in epochs or steps.
struct TrialReport {
    std::int64_t time = 0;
    double value = 0;
    double loss = 0;    ///< smaller is better; worst_loss for NaN and infinities
};

/// PBT: at `time` the trial took over the weights that `source` had at `source_time`.
struct LineageStep {
    std::int64_t time = 0;
    std::int64_t source = 0;
    std::int64_t source_time = 0;
};

/// One configuration and what is known of it. Numbers count from 0 in the order of starts.
struct Trial {
    std::int64_t number = 0;
    std::vector<double> unit = {};    ///< its place in the unit cube
    Point point = {};
    TrialState state = TrialState::running;
    std::int64_t until = 0;    ///< it trains to this time; 0: as long as its job says
    std::int64_t bracket = 0;
    std::vector<TrialReport> reports = {};    ///< times increase
    /// Of a cross-validation: what each fold measured. The reports are then means of the first
    /// ones.
    std::vector<double> fold_values = {};
    std::vector<LineageStep> lineage = {};
};

/// Smaller is better, whatever the mode; NaN and infinities are worst_loss.
double loss_of(double value, MetricMode mode);

/// The trial's loss so far, its last or its best; worst_loss without a report.
double last_loss(const Trial& trial);
double best_loss(const Trial& trial);
/// The report that a trial with at least one is judged by.
const TrialReport& judged_report(const Trial& trial, ObjectiveSelection selection);
/// The mean of its losses up to and including `time`.
double mean_loss(const Trial& trial, std::int64_t time);

std::int64_t running_count(const std::vector<Trial>& trials);

}    // namespace slipway::search

namespace slipway {
template <>
struct Spelling<search::TrialState> {
    static constexpr std::array<std::string_view, 5> words{"running", "paused", "completed",
                                                           "stopped", "failed"};
};
}    // namespace slipway
