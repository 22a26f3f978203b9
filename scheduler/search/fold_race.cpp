// Trials that are cross-validations, raced fold by fold (F-Race: Birattari et al., 2002). The
// trials of a wave train the first folds; then each is compared with the best one on the same
// folds, and those that will not win train no more; the others train the next fold, and so on. The
// comparison is paired: a fold that is hard is hard for all, which says nothing about a trial.
//
// What is predicted is the mean over all folds, which is what the sweep compares, not the
// difference between configurations in general: so the error shrinks to zero with the folds that
// are left, and no correction for shared training samples belongs here (fold_comparison.h has it).
//
// Rounds have a barrier: nobody is compared before all of the wave have the same folds. So
// decisions depend neither on which core was faster nor on how many trials run at a time. Comparing
// each trial with whoever is done was tried on paper: it ends trials a little earlier, and
// differently in each run.

#include "scheduler/search/fold_race.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "scheduler/search/student_t.h"

namespace slipway::search {

namespace {

constexpr std::string_view folds_rule = "folds";
/// Student's t is computed with a C library: what its last bits say is no reason for a decision.
constexpr double probability_steps = 1e9;

double weight_of(const FoldSearch& folds, std::size_t fold) {
    return folds.is_weighted ? double(folds.sizes[fold].val) : 1;
}

std::vector<double> losses_of(const Trial& trial, std::size_t count, MetricMode mode) {
    std::vector<double> losses;
    for (std::size_t fold = 0; fold < count; ++fold)
        losses.push_back(loss_of(trial.fold_values[fold], mode));
    return losses;
}

/// What both policies say of a fold that leaves nothing to compare, or of the last one.
std::optional<Decision> judge_fold(const Trial& trial, std::int64_t folds) {
    const TrialReport& last = trial.reports.back();
    Decision decision{.rule = folds_rule,
                      .trial = trial.number,
                      .time = last.time,
                      .value = last.value,
                      .reason = ""};
    if (last.loss == worst_loss) {
        decision.action = Action::stop;
        decision.reason = fmt::format("fold {}: its value is not a finite number", last.time - 1);
        return decision;
    }
    if (last.time < folds) return std::nullopt;
    decision.action = Action::complete;
    decision.reason = fmt::format("all {} folds: mean {:.6g}", folds, last.value);
    return decision;
}

class AllFolds final : public TrialPolicy {
public:
    explicit AllFolds(std::int64_t folds) : folds_(folds) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>&) override {
        Decision decision = start_or_wait(trials, startable, folds_rule);
        if (decision.action == Action::start) decision.until = folds_;
        return decision;
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        auto decision = judge_fold(trials[std::size_t(number)], folds_);
        if (!decision) return {};
        return {*std::move(decision)};
    }

private:
    std::int64_t folds_;
};

class FoldRace final : public TrialPolicy {
public:
    FoldRace(FoldSearch folds, MetricMode mode)
        : folds_(std::move(folds)), pruning_(*folds_.pruning), mode_(mode) {}

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>& others) override {
        if (startable == 0 && wave_.unstarted > 0) {    // the sampler has no more points
            wave_.unstarted = 0;
            judge_round(trials, others);
        }
        if (!wave_.to_resume.empty()) return resume();
        if (wave_.unstarted > 0) return begin();
        if (!wave_.running.empty()) return start_or_wait(trials, 0, folds_rule);
        if (startable == 0) return start_or_wait(trials, 0, folds_rule);
        wave_ = {.number = wave_.number + 1,
                 .target = first_target(),
                 .unstarted = std::min(pruning_.wave, startable)};
        return begin();
    }

    void on_start(const Trial& trial) override {
        --wave_.unstarted;
        wave_.running.push_back(trial.number);
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        const Trial& trial = trials[std::size_t(number)];
        std::vector<Decision> decisions;
        if (auto judged = judge_fold(trial, count())) {
            decisions.push_back(*std::move(judged));
            leave(number);
            if (decisions.back().action == Action::complete) completed_.push_back(number);
        } else if (trial.reports.back().time == trial.until) {
            decisions.push_back(arrival(trial));
            leave(number);
            wave_.arrived.push_back(number);
        } else {
            return {};
        }
        judge_round(trials, decisions);
        return decisions;
    }

    std::vector<Decision> on_end(const std::vector<Trial>& trials, std::int64_t number) override {
        std::vector<Decision> decisions;
        leave(number);
        judge_round(trials, decisions);
        return decisions;
    }

private:
    struct Wave {
        std::int64_t number = -1;
        std::int64_t target = 0;    // folds that its trials train in this round
        std::int64_t unstarted = 0;
        std::vector<std::int64_t> running{};
        std::vector<std::int64_t> arrived{};
        std::deque<std::int64_t> to_resume{};    // best first
    };
    struct Contender {
        std::int64_t number;
        double loss;    // the mean over the folds of this round
    };

    std::int64_t count() const { return std::int64_t(folds_.sizes.size()); }

    std::int64_t first_target() const {
        return folds_.sizes.empty() ? pruning_.min_folds : std::min(pruning_.min_folds, count());
    }

    void leave(std::int64_t number) {
        std::erase(wave_.running, number);
        std::erase(wave_.arrived, number);
        std::erase(wave_.to_resume, number);
    }

    Decision begin() const {
        return {.action = Action::start,
                .rule = folds_rule,
                .until = wave_.target,
                .bracket = wave_.number,
                .reason = ""};
    }

    Decision resume() {
        const std::int64_t number = wave_.to_resume.front();
        wave_.to_resume.pop_front();
        wave_.running.push_back(number);
        return {.action = Action::resume,
                .rule = folds_rule,
                .trial = number,
                .until = wave_.target,
                .reason = fmt::format("it trains fold {}", wave_.target - 1)};
    }

    Decision arrival(const Trial& trial) const {
        return {
            .action = Action::pause,
            .rule = folds_rule,
            .trial = trial.number,
            .time = trial.reports.back().time,
            .value = trial.reports.back().value,
            .reason = fmt::format("{} of {} folds: mean {:.6g}; it waits for the others of its "
                                  "wave",
                                  trial.reports.back().time, count(), trial.reports.back().value)};
    }

    /// Ends the round when nothing of it is left to come.
    void judge_round(const std::vector<Trial>& trials, std::vector<Decision>& decisions) {
        if (!wave_.running.empty() || !wave_.to_resume.empty() || wave_.unstarted > 0) return;
        if (wave_.arrived.empty()) return;
        const std::vector<Contender> contenders = ranked(trials);
        const std::int64_t leader = best_so_far(trials, contenders.front());
        for (std::size_t place = 0; place < contenders.size(); ++place) {
            const Trial& trial = trials[std::size_t(contenders[place].number)];
            decisions.push_back(
                compare(trial, trials[std::size_t(leader)], place + 1, contenders.size()));
            if (decisions.back().action == Action::keep) wave_.to_resume.push_back(trial.number);
        }
        wave_.arrived.clear();
        ++wave_.target;
    }

    /// Those that have arrived, the best first; of equal ones the earlier.
    std::vector<Contender> ranked(const std::vector<Trial>& trials) const {
        std::vector<Contender> contenders;
        for (const std::int64_t number : wave_.arrived)
            contenders.push_back({number, trials[std::size_t(number)].reports.back().loss});
        std::ranges::sort(contenders, [](const Contender& a, const Contender& b) {
            return a.loss != b.loss ? a.loss < b.loss : a.number < b.number;
        });
        return contenders;
    }

    /// The best on the folds of this round, of this wave and of whoever has completed all folds.
    std::int64_t best_so_far(const std::vector<Trial>& trials, const Contender& first) const {
        Contender best = first;
        for (const std::int64_t number : completed_) {
            const double loss = mean_on_round(trials[std::size_t(number)]);
            const bool is_better = loss != best.loss ? loss < best.loss : number < best.number;
            if (is_better) best = {number, loss};
        }
        return best.number;
    }

    double mean_on_round(const Trial& trial) const {
        return loss_of(trial.reports[std::size_t(wave_.target - 1)].value, mode_);
    }

    Decision compare(const Trial& trial, const Trial& leader, std::size_t rank,
                     std::size_t of) const {
        const double cutoff = leader.reports[std::size_t(wave_.target - 1)].value;
        Decision decision{.action = Action::keep,
                          .rule = folds_rule,
                          .trial = trial.number,
                          .time = wave_.target,
                          .value = trial.reports.back().value,
                          .rank = std::int64_t(rank),
                          .of = std::int64_t(of),
                          .cutoff = cutoff,
                          .reason = ""};
        const std::string where = fmt::format("{} of {} folds: mean {:.6g}", wave_.target, count(),
                                              trial.reports.back().value);
        if (trial.number == leader.number) {
            decision.reason = where + ", the best so far";
            return decision;
        }
        const FoldChance chance =
            chance_to_win(folds_, losses_of(trial, std::size_t(wave_.target), mode_),
                          losses_of(leader, std::size_t(wave_.target), mode_));
        decision.source = leader.number;
        decision.probability = chance.probability;
        const double least = 1 - pruning_.confidence;
        const bool goes_on = chance.probability >= least;
        decision.action = goes_on ? Action::keep : Action::stop;
        decision.reason = fmt::format(
            "{}, that of trial {} on the same folds is {:.6g}; it becomes the better one with "
            "probability {:.3g}, which is {} {:.3g}",
            where, leader.number, cutoff, chance.probability, goes_on ? "at least" : "below",
            least);
        return decision;
    }

    FoldSearch folds_;
    FoldPruningSpec pruning_;
    MetricMode mode_;
    Wave wave_;
    std::vector<std::int64_t> completed_;
};

}    // namespace

double fold_mean(const FoldSearch& folds, std::span<const double> values) {
    double sum = 0;
    double weights = 0;
    for (std::size_t fold = 0; fold < values.size(); ++fold) {
        if (!std::isfinite(values[fold])) return std::numeric_limits<double>::quiet_NaN();
        sum += weight_of(folds, fold) * values[fold];
        weights += weight_of(folds, fold);
    }
    return sum / weights;
}

FoldChance chance_to_win(const FoldSearch& folds, std::span<const double> challenger,
                         std::span<const double> leader) {
    const std::size_t done = challenger.size();
    double weights_done = 0;
    double squares_done = 0;
    double weights_left = 0;
    double squares_left = 0;
    double sum = 0;
    for (std::size_t fold = 0; fold < folds.sizes.size(); ++fold) {
        const double weight = weight_of(folds, fold);
        (fold < done ? weights_done : weights_left) += weight;
        (fold < done ? squares_done : squares_left) += weight * weight;
        if (fold < done) sum += weight * (challenger[fold] - leader[fold]);
    }
    FoldChance chance{.mean_difference = sum / weights_done};
    double squares = 0;
    for (std::size_t fold = 0; fold < done; ++fold) {
        const double from_mean = challenger[fold] - leader[fold] - chance.mean_difference;
        squares += from_mean * from_mean;
    }
    const double whole = weights_done + weights_left;
    const double share_left = weights_left / whole;
    const double error =
        std::sqrt(squares / double(done - 1) *
                  (squares_left / (whole * whole) +
                   share_left * share_left * squares_done / (weights_done * weights_done)));
    if (error == 0) {
        chance.probability = chance.mean_difference == 0 ? 0.5 : chance.mean_difference < 0;
        return chance;
    }
    chance.t = chance.mean_difference / error;
    const double exact = student_t_cdf(-*chance.t, double(done - 1));
    chance.probability = std::round(exact * probability_steps) / probability_steps;
    return chance;
}

std::unique_ptr<TrialPolicy> fold_policy(FoldSearch folds, MetricMode mode) {
    if (!folds.pruning) return std::make_unique<AllFolds>(std::int64_t(folds.sizes.size()));
    return std::make_unique<FoldRace>(std::move(folds), mode);
}

}    // namespace slipway::search
