#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "scheduler/search/fold_race.h"
#include "scheduler/search/policy.h"
#include "scheduler/search/sampler.h"

namespace slipway::search {

/// What a search is made from. Nothing else but the events decides what it does.
struct SearchPlan {
    AlgorithmSpec algorithm;
    MetricMode mode = MetricMode::min;
    ObjectiveSelection selection = ObjectiveSelection::best;
    std::uint64_t seed = 0;
    std::int64_t max_trials = 1;
    std::vector<Point> start_points = {};    ///< tried first; what they leave out is drawn
    std::vector<KnownResult> known = {};     ///< results of earlier searches, for tpe
    std::optional<FoldSearch> folds = {};    ///< trials are cross-validations; selection is `last`
};

// What happens to a search. The log of these is its whole state.

/// Somebody is free: what to do? `unit` stands in a log that is read again: the place of the point
/// of the trial that was started then, where choosing it again would be dear. Empty: it is chosen.
struct AskEvent {
    std::vector<double> unit = {};
};
/// A value of the objective. NaN and infinities are allowed. Times of a trial that are not above
/// its last one are ignored: an attempt that resumes repeats them. Of a cross-validation `time` is
/// the number of folds that are done, one more with each report, and `value` that of the new one.
struct ReportEvent {
    std::int64_t trial = 0;
    std::int64_t time = 0;
    double value = 0;
};
/// A trial ended by itself. `failed`: without a result, or cancelled.
struct EndEvent {
    std::int64_t trial = 0;
    bool failed = false;
};
/// More trials are allowed than before.
struct ExtendEvent {
    std::int64_t max_trials = 0;
};
/// A trial that failed is tried again from where it got to. Of algorithms that compare trials in
/// rounds (hyperband, pbt, fold pruning) it is ignored: the round has gone on without it.
struct RetryEvent {
    std::int64_t trial = 0;
};
using SearchEvent = std::variant<AskEvent, ReportEvent, EndEvent, ExtendEvent, RetryEvent>;

/// A hyperparameter search as a pure state machine: events in, decisions out. The same plan and the
/// same events give the same decisions, on any machine and whoever asks.
class Search {
public:
    /// `space` fits the plan: with a grid grid_problems(space) is empty, start_points have no
    /// problems.
    Search(Space space, SearchPlan plan);

    /// Takes one event. The last decision on AskEvent is the answer: start, resume, wait or finish.
    /// Other events may decide about several trials or none. What comes of trials that have ended
    /// is ignored.
    /// errors  not_found: there is no such trial; nothing has changed then
    std::vector<Decision> on(const SearchEvent& event);

    /// AskEvent::unit for the log, of an ask that was answered by `answer`.
    std::vector<double> unit_for_log(const Decision& answer) const;

    const std::vector<Trial>& trials() const { return trials_; }
    const Space& space() const { return *space_; }
    const SearchPlan& plan() const { return plan_; }

    /// How many trials may still be started, as far as is known.
    std::int64_t startable() const;

    /// The work of choosing all points so far, in values and steps of constraints. Replayed asks
    /// whose points were expensive count little.
    std::int64_t effort() const { return effort_; }

    /// The trial with the least loss, by the plan's selection; the first of equal ones. None before
    /// the first finite value. Of cross-validations only those that have every fold.
    std::optional<std::int64_t> best_trial() const { return best_; }

private:
    std::vector<Decision> ask(const AskEvent& event);
    std::vector<Decision> report(const ReportEvent& event);
    bool add_report(Trial& one, const ReportEvent& event);
    std::vector<Decision> end(const EndEvent& event);
    std::vector<Decision> retry(const RetryEvent& event);
    Proposal propose(std::int64_t number, const std::vector<double>& unit);
    double judged_loss(const Trial& one) const;
    void find_best();
    void compare_with_best(const Trial& one);
    void start(Decision& answer, const Proposal& proposal);
    void apply(const Decision& decision);
    Trial& trial(std::int64_t number);

    std::unique_ptr<const Space> space_;    // the sampler refers to it, so it does not move
    SearchPlan plan_;
    std::vector<Trial> trials_;
    std::unique_ptr<Sampler> sampler_;
    std::unique_ptr<TrialPolicy> policy_;
    std::optional<std::uint64_t> points_max_;    // none: very many
    std::int64_t effort_ = 0;
    std::string exhausted_;    // why there are no more points; empty: there are
    std::optional<std::int64_t> best_;
    double least_ = worst_loss;    // the loss of the best one
};

/// Whether RetryEvent has an effect on the algorithm's failed trials. `races`: with fold pruning.
bool can_retry(SearchMethod method, bool races = false);

/// A search after these events: how it is restored after a restart.
Search replayed(Space space, SearchPlan plan, std::span<const SearchEvent> events);

}    // namespace slipway::search
