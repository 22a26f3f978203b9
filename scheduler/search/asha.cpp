// Both variants share rungs and brackets and differ in who waits: with stop a trial keeps its core
// until it falls behind, so early trials are judged by few; with promote every trial is judged by
// all that have come so far whenever somebody is free, at the price of a checkpoint at each rung.
//
// What holds: a trial is in each rung of its bracket at most once, in order; `reached_` counts how
// many rungs a trial has entered, `promoted_` how many it has left upwards.

#include "scheduler/search/asha.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scheduler/search/rungs.h"

namespace slipway::search {

namespace {

constexpr std::string_view asha_rule = "asha";

class Asha final : public TrialPolicy {
public:
    Asha(const AlgorithmSpec& spec, ObjectiveSelection selection)
        : spec_(spec), selection_(selection) {
        const auto times = rung_times(spec.min_time, spec.max_time, spec.reduction_factor);
        for (std::int64_t bracket = 0; bracket < spec.brackets; ++bracket) {
            brackets_.emplace_back();
            brackets_.back().times.assign(times.begin() + bracket, times.end());
            brackets_.back().rungs.resize(brackets_.back().times.size());
        }
    }

    Decision next(const std::vector<Trial>& trials, std::int64_t startable,
                  std::vector<Decision>&) override {
        if (spec_.mode == AshaMode::promote) {
            for (const Bracket& bracket : brackets_)
                if (auto promotion = find_promotion(bracket, trials)) return *promotion;
        }
        Decision decision = start_or_wait(trials, startable, asha_rule);
        if (decision.action != Action::start) return decision;
        decision.bracket = neediest_bracket();
        decision.until = spec_.mode == AshaMode::promote
                             ? brackets_[std::size_t(decision.bracket)].times.front()
                             : spec_.max_time;
        return decision;
    }

    void on_start(const Trial& trial) override {
        ++brackets_[std::size_t(trial.bracket)].started;
        reached_.push_back(0);
        promoted_.push_back(0);
    }

    std::vector<Decision> on_report(const std::vector<Trial>& trials,
                                    std::int64_t number) override {
        const Trial& trial = trials[std::size_t(number)];
        Bracket& bracket = brackets_[std::size_t(trial.bracket)];
        std::vector<Decision> decisions;
        std::size_t& reached = reached_[std::size_t(number)];
        while (reached < bracket.times.size() &&
               trial.reports.back().time >= bracket.times[reached]) {
            decisions.push_back(enter(bracket, reached++, trial));
            if (decisions.back().action != Action::keep) break;
        }
        return decisions;
    }

private:
    struct Bracket {
        std::vector<std::int64_t> times;
        std::vector<Rung> rungs;
        std::int64_t started = 0;
    };

    Decision enter(Bracket& bracket, std::size_t index, const Trial& trial) {
        Rung& rung = bracket.rungs[index];
        const TrialReport& judged = judged_report(trial, selection_);
        const RungEntry entry{trial.number, judged.loss, judged.value};
        const std::int64_t rank = rung.add(entry);
        Decision decision{.rule = asha_rule,
                          .trial = trial.number,
                          .rung = std::int64_t(index),
                          .time = trial.reports.back().time,
                          .value = judged.value,
                          .rank = rank,
                          .of = rung.size(),
                          .reason = ""};
        const std::string where =
            fmt::format("rung {} ({} {}): rank {} of {}", index, to_string(spec_.time_attr),
                        bracket.times[index], rank, rung.size());
        if (index + 1 == bracket.times.size()) {
            decision.action = Action::complete;
            decision.reason = where + "; it has reached max_time";
        } else if (entry.loss == worst_loss) {
            decision.action = Action::stop;
            decision.reason = where + "; its value is not a finite number";
        } else if (spec_.mode == AshaMode::promote) {
            decision.action = Action::pause;
            decision.reason = where + "; paused unless it is promoted";
        } else {
            compare(decision, rung, where);
        }
        return decision;
    }

    void compare(Decision& decision, const Rung& rung, const std::string& where) const {
        const std::int64_t kept = std::max<std::int64_t>(1, rung.size() / spec_.reduction_factor);
        decision.cutoff = rung.entries()[std::size_t(kept - 1)].value;
        const bool goes_on = *decision.rank <= kept;
        decision.action = goes_on ? Action::keep : Action::stop;
        decision.reason =
            fmt::format("{}; the best {} go on, cutoff {:.6g}", where, kept, *decision.cutoff);
    }

    std::optional<Decision> find_promotion(const Bracket& bracket,
                                           const std::vector<Trial>& trials) {
        for (std::size_t index = bracket.rungs.size() - 1; index-- > 0;) {
            const auto& entries = bracket.rungs[index].entries();
            const std::int64_t kept = std::int64_t(entries.size()) / spec_.reduction_factor;
            for (std::int64_t i = 0; i < kept; ++i) {
                const RungEntry& entry = entries[std::size_t(i)];
                std::size_t& promoted = promoted_[std::size_t(entry.trial)];
                const bool waits = trials[std::size_t(entry.trial)].state == TrialState::paused;
                if (promoted > index || !waits || entry.loss == worst_loss) continue;
                promoted = index + 1;
                return promotion(bracket, index, i, kept);
            }
        }
        return std::nullopt;
    }

    Decision promotion(const Bracket& bracket, std::size_t index, std::int64_t place,
                       std::int64_t kept) const {
        const auto& entries = bracket.rungs[index].entries();
        const RungEntry& entry = entries[std::size_t(place)];
        Decision decision{.action = Action::resume,
                          .rule = asha_rule,
                          .trial = entry.trial,
                          .until = bracket.times[index + 1],
                          .rung = std::int64_t(index),
                          .value = entry.value,
                          .rank = place + 1,
                          .of = std::int64_t(entries.size()),
                          .cutoff = entries[std::size_t(kept - 1)].value,
                          .reason = ""};
        decision.reason =
            fmt::format("rung {} ({} {}): rank {} of {}; the best {} are promoted, cutoff {:.6g}",
                        index, to_string(spec_.time_attr), bracket.times[index], place + 1,
                        entries.size(), kept, *decision.cutoff);
        return decision;
    }

    /// Brackets get trials in the proportions of Hyperband: reduction_factor^(r - 1) / r for one of
    /// r rungs. The one that is furthest behind is next, the lower one when they are level.
    std::int64_t neediest_bracket() const {
        std::size_t neediest = 0;
        double lowest = 0;
        for (std::size_t i = 0; i < brackets_.size(); ++i) {
            double weight = 1.0 / double(brackets_[i].times.size());
            for (std::size_t rung = 1; rung < brackets_[i].times.size(); ++rung)
                weight *= double(spec_.reduction_factor);
            const double filled = double(brackets_[i].started + 1) / weight;
            if (i == 0 || filled < lowest) {
                neediest = i;
                lowest = filled;
            }
        }
        return std::int64_t(neediest);
    }

    AlgorithmSpec spec_;
    ObjectiveSelection selection_;
    std::vector<Bracket> brackets_;
    std::vector<std::size_t> reached_;     // by trial
    std::vector<std::size_t> promoted_;    // likewise
};

}    // namespace

std::unique_ptr<TrialPolicy> asha_policy(const AlgorithmSpec& spec, ObjectiveSelection selection) {
    return std::make_unique<Asha>(spec, selection);
}

}    // namespace slipway::search
